//! Parsers of the kernel's text formats: pure functions over `&str` that never panic, for any text.

mod cgroup;
mod cpu_list;
mod cpu_time;
mod fields;
mod mountinfo;
mod os_release;
mod program;
mod size;
mod smaps;
mod sockets;
mod users;
mod virtio;

pub(super) use cgroup::{Membership, cpu_quota, memberships};
pub(super) use cpu_list::cpu_list;
pub(super) use cpu_time::cpu_times;
pub(super) use fields::{colon_field, kibibytes, selected, spaced_field};
pub(super) use mountinfo::{Mount, mounts};
pub(super) use os_release::os_release_field;
pub(super) use program::program;
pub(super) use size::size_bytes;
pub(super) use smaps::huge_bytes_within;
pub(super) use sockets::socket_owner;
pub(super) use users::maps_all_users;
pub(super) use virtio::has_feature;
