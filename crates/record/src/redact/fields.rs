//! Redaction of each field that describes the machine or the command.

use super::mark::{Kind, Redactor};
use super::text::{Shape, is_public};
use crate::run::Header;
use platform::environment::{Build, Environment, Frequency};
use platform::machine::{Cpu, Machine};
use platform::storage::Storage;
use std::mem;
use std::path::{Path, PathBuf};

impl Redactor {
    pub(super) fn header(&self, header: &mut Header, ids: &[String]) {
        let Header {
            name,
            tags,
            command_line,
            version,
            directory,
            machine_fingerprint,
            redacted,
            // The id is random. It stays, so that a redacted run is not taken for a different one.
            id: _,
            started: _,
            ended: _,
            interrupted: _,
            profile: _,
            budget_ns: _,
            seed: _,
            proven: _,
            // Limits are amounts and name nothing.
            limited: _,
        } = header;
        let tag = |(key, value): (String, String)| {
            let value = self.unless_number(Kind::Tag, &value);
            if is_public(&key, Shape::Prose) {
                (key, value)
            } else {
                (self.mark(Kind::Tag, &key), value)
            }
        };
        self.mark_all(Kind::Name, name);
        *tags = mem::take(tags).into_iter().map(tag).collect();
        *command_line = self.command_line(command_line, ids);
        *version = self.text(version, Shape::Model);
        *directory = self.path(directory);
        *machine_fingerprint = self.digits(machine_fingerprint, 16);
        *redacted = true;
    }

    /// In a command line, options stay without their values; names of measured things, numbers and
    /// similar words stay too.
    fn command_line(&self, line: &[String], ids: &[String]) -> Vec<String> {
        let is_measured = |word: &str| {
            let mut ids = ids.iter();
            ids.any(|id| id == word || id.split('.').next() == Some(word))
        };
        let argument = |(place, word): (usize, &String)| {
            let is_command = place == 1 && is_public(word, Shape::Prose) && !word.contains('/');
            match word.split_once('=') {
                _ if place == 0 => "oscope".into(),
                _ if is_command || is_measured(word) || is_option(word) => word.clone(),
                Some((option, value)) if is_option(option) => {
                    format!("{option}={}", self.unless_number(Kind::Argument, value))
                }
                _ => self.unless_number(Kind::Argument, word),
            }
        };
        line.iter().enumerate().map(argument).collect()
    }

    pub(super) fn machine(&self, machine: &mut Machine) {
        let Machine {
            cpu,
            hypervisor,
            product,
            installation,
            topology: _,
            caches: _,
            memory_bytes: _,
            page_bytes: _,
            huge_page_bytes: _,
        } = machine;
        let Cpu {
            architecture,
            vendor,
            model,
            features,
            family: _,
            model_number: _,
            stepping: _,
        } = cpu;
        self.keep(Shape::Model, [architecture].into_iter().chain(features));
        let known = [vendor, model, hypervisor].into_iter().flatten();
        self.keep(Shape::Model, known);
        self.mark_all(Kind::Product, product);
        self.mark_all(Kind::Machine, installation);
    }

    pub(super) fn environment(&self, environment: &mut Environment, ids: &[String]) {
        let Environment {
            os_name,
            os_version,
            kernel_name,
            kernel_release,
            kernel_version,
            stand_in,
            build,
            command_line,
            mitigations,
            frequency,
            clock_source,
            transparent_huge_pages,
            uptime_seconds,
            is_root: _,
            defender_watches: _,
            is_traced: _,
            seccomp_filters: _,
            is_on_battery: _,
            memory_pressure: _,
            smt_active: _,
            isolated_cpus: _,
            free_page_reporting: _,
            reported_block_bytes: _,
            swap_total_bytes: _,
            swappiness: _,
            memory_available_bytes: _,
            overcommit: _,
            address_randomisation: _,
            cgroup: _,
            load_average: _,
        } = environment;
        let Frequency {
            driver,
            governor,
            turbo: _,
            current_hz: _,
            minimum_hz: _,
            maximum_hz: _,
        } = frequency;
        let Build {
            program_version,
            compiler,
            target,
            optimisation_level,
            flags,
        } = build;
        let system = [
            os_name,
            os_version,
            kernel_name,
            kernel_release,
            kernel_version,
        ];
        let settings = [
            stand_in,
            driver,
            governor,
            clock_source,
            transparent_huge_pages,
        ];
        let built = [compiler, target, optimisation_level, flags];
        let all = system.into_iter().chain(settings).chain(built);
        self.keep(Shape::Model, all.flatten());
        let kept = |text: &String| self.text(text, Shape::Model);
        *program_version = kept(program_version);
        *command_line = self.command_line(command_line, ids);
        *mitigations = (mitigations.iter())
            .map(|(name, state)| (kept(name), kept(state)))
            .collect();
        // Together with the run's start time, it reveals the boot time.
        *uptime_seconds = None;
    }

    pub(super) fn storage(&self, storage: &mut Storage) {
        let Storage {
            file_system,
            mount_point,
            mount_options,
            source,
            block_device,
            scheduler,
            rotational: _,
            read_ahead_bytes: _,
            logical_block_bytes: _,
            physical_block_bytes: _,
            total_bytes: _,
            free_bytes: _,
        } = storage;
        self.keep(Shape::Prose, [file_system].into_iter().chain(mount_options));
        *mount_point = self.path(mount_point);
        self.mark_all(Kind::Source, source);
        let devices = block_device.iter_mut();
        let unknown = devices.filter(|name| !is_public(name, Shape::Model));
        self.mark_all(Kind::Device, unknown);
        self.keep(Shape::Model, scheduler);
    }

    fn mark_all<'t>(&self, kind: Kind, texts: impl IntoIterator<Item = &'t mut String>) {
        for text in texts {
            *text = self.mark(kind, text);
        }
    }

    /// A mark, unless it is the root directory, which reveals nothing.
    fn path(&self, path: &Path) -> PathBuf {
        if path == Path::new("/") {
            return path.to_owned();
        }
        self.mark(Kind::Path, &path.to_string_lossy()).into()
    }

    /// A mark, unless `text` is a number, perhaps with a unit.
    fn unless_number(&self, kind: Kind, text: &str) -> String {
        let is_number = text.starts_with(|c: char| c.is_ascii_digit())
            && !text.contains(['.', ':', '/', '-'])
            && is_public(text, Shape::Prose);
        if is_number {
            text.to_owned()
        } else {
            self.mark(kind, text)
        }
    }
}

/// True if a word of a command line is an option without a value.
fn is_option(word: &str) -> bool {
    let is_letter = |name: &str| name.len() == 1;
    let name = word
        .strip_prefix("--")
        .filter(|name| is_public(name, Shape::Prose));
    let letter = word.strip_prefix('-').filter(|name| is_letter(name));
    word != "--" && !word.contains('=') && name.or(letter).is_some()
}
