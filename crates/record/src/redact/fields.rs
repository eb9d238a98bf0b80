//! Redaction of each field that describes the machine or the command.

use super::Redactor;
use super::mark::Kind;
use super::text::{Shape, is_public};
use crate::run::Header;
use platform::environment::{Build, Environment, Frequency};
use platform::machine::{Cpu, Machine};
use platform::storage::Storage;
use std::path::{Path, PathBuf};

impl Redactor {
    pub(super) fn header(&self, header: &Header, command_line: Vec<String>) -> Header {
        let Header {
            id,
            name,
            tags,
            started,
            ended,
            interrupted,
            profile,
            budget_ns,
            seed,
            command_line: _,
            version,
            directory,
            machine_fingerprint,
            proven,
            redacted: _,
            limited,
        } = header;
        let tag = |(key, value): (&String, &String)| {
            let is_kept = is_public(key, Shape::Prose);
            let key = if is_kept {
                key.clone()
            } else {
                self.mark(Kind::Tag, key)
            };
            (key, self.unless_number(Kind::Tag, value))
        };
        Header {
            // The id is random. It stays, so that a redacted run is not taken for a different one.
            id: id.clone(),
            name: name.as_deref().map(|name| self.mark(Kind::Name, name)),
            tags: tags.iter().map(tag).collect(),
            started: *started,
            ended: *ended,
            interrupted: *interrupted,
            profile: *profile,
            budget_ns: *budget_ns,
            seed: *seed,
            command_line,
            version: self.model(version),
            directory: self.path(directory),
            machine_fingerprint: self.marker.digits(machine_fingerprint, 16),
            proven: *proven,
            redacted: true,
            // Limits are amounts and name nothing.
            limited: *limited,
        }
    }

    /// In a command line, options stay without their values; names of measured things, numbers and
    /// similar words stay too.
    pub(super) fn command_line(&self, line: &[String], ids: &[&str]) -> Vec<String> {
        let is_measured = |word: &str| {
            let is_group = |id: &&str| id.split('.').next() == Some(word);
            ids.contains(&word) || ids.iter().any(is_group)
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

    pub(super) fn machine(&self, machine: &Machine) -> Machine {
        let Machine {
            cpu,
            topology,
            caches,
            memory_bytes,
            page_bytes,
            huge_page_bytes,
            hypervisor,
            product,
            installation,
        } = machine;
        let Cpu {
            architecture,
            vendor,
            model,
            family,
            model_number,
            stepping,
            features,
        } = cpu;
        Machine {
            cpu: Cpu {
                architecture: self.model(architecture),
                vendor: self.models(vendor.as_ref()),
                model: self.models(model.as_ref()),
                family: *family,
                model_number: *model_number,
                stepping: *stepping,
                features: features.iter().map(|feature| self.model(feature)).collect(),
            },
            topology: topology.clone(),
            caches: caches.clone(),
            memory_bytes: *memory_bytes,
            page_bytes: *page_bytes,
            huge_page_bytes: *huge_page_bytes,
            hypervisor: self.models(hypervisor.as_ref()),
            product: self.marked(Kind::Product, product.as_ref()),
            installation: self.marked(Kind::Machine, installation.as_ref()),
        }
    }

    pub(super) fn environment(
        &self,
        environment: &Environment,
        command_line: Vec<String>,
    ) -> Environment {
        let Environment {
            os_name,
            os_version,
            kernel_name,
            kernel_release,
            kernel_version,
            stand_in,
            build,
            command_line: _,
            is_root,
            mitigations,
            defender_watches,
            is_traced,
            seccomp_filters,
            is_on_battery,
            is_first_run,
            memory_pressure,
            frequency,
            smt_active,
            isolated_cpus,
            clock_source,
            transparent_huge_pages,
            free_page_reporting,
            reported_block_bytes,
            swap_total_bytes,
            swappiness,
            memory_available_bytes,
            overcommit,
            address_randomisation,
            cgroup,
            load_average,
            uptime_seconds: _,
        } = environment;
        let Frequency {
            driver,
            governor,
            turbo,
            current_hz,
            minimum_hz,
            maximum_hz,
        } = frequency;
        let mitigations = mitigations.iter();
        Environment {
            os_name: self.models(os_name.as_ref()),
            os_version: self.models(os_version.as_ref()),
            kernel_name: self.models(kernel_name.as_ref()),
            kernel_release: self.models(kernel_release.as_ref()),
            kernel_version: self.models(kernel_version.as_ref()),
            stand_in: self.models(stand_in.as_ref()),
            build: self.build(build),
            command_line,
            is_root: *is_root,
            mitigations: mitigations
                .map(|(name, state)| (self.model(name), self.model(state)))
                .collect(),
            defender_watches: *defender_watches,
            is_traced: *is_traced,
            seccomp_filters: *seccomp_filters,
            is_on_battery: *is_on_battery,
            is_first_run: *is_first_run,
            memory_pressure: *memory_pressure,
            frequency: Frequency {
                driver: self.models(driver.as_ref()),
                governor: self.models(governor.as_ref()),
                turbo: *turbo,
                current_hz: *current_hz,
                minimum_hz: *minimum_hz,
                maximum_hz: *maximum_hz,
            },
            smt_active: *smt_active,
            isolated_cpus: isolated_cpus.clone(),
            clock_source: self.models(clock_source.as_ref()),
            transparent_huge_pages: self.models(transparent_huge_pages.as_ref()),
            free_page_reporting: *free_page_reporting,
            reported_block_bytes: *reported_block_bytes,
            swap_total_bytes: *swap_total_bytes,
            swappiness: *swappiness,
            memory_available_bytes: *memory_available_bytes,
            overcommit: *overcommit,
            address_randomisation: *address_randomisation,
            cgroup: cgroup.clone(),
            load_average: *load_average,
            // Together with the run's start time, it reveals the boot time.
            uptime_seconds: None,
        }
    }

    fn build(&self, build: &Build) -> Build {
        let Build {
            program_version,
            compiler,
            target,
            optimisation_level,
            flags,
        } = build;
        Build {
            program_version: self.model(program_version),
            compiler: self.models(compiler.as_ref()),
            target: self.models(target.as_ref()),
            optimisation_level: self.models(optimisation_level.as_ref()),
            flags: self.models(flags.as_ref()),
        }
    }

    pub(super) fn storage(&self, storage: &Storage) -> Storage {
        let Storage {
            file_system,
            mount_point,
            mount_options,
            source,
            block_device,
            rotational,
            scheduler,
            read_ahead_bytes,
            logical_block_bytes,
            physical_block_bytes,
            total_bytes,
            free_bytes,
        } = storage;
        let device = |name: &String| {
            if is_public(name, Shape::Model) {
                name.clone()
            } else {
                self.mark(Kind::Device, name)
            }
        };
        Storage {
            file_system: self.prose(file_system),
            mount_point: self.path(mount_point),
            mount_options: mount_options
                .iter()
                .map(|option| self.prose(option))
                .collect(),
            source: self.marked(Kind::Source, source.as_ref()),
            block_device: block_device.as_ref().map(device),
            rotational: *rotational,
            scheduler: self.models(scheduler.as_ref()),
            read_ahead_bytes: *read_ahead_bytes,
            logical_block_bytes: *logical_block_bytes,
            physical_block_bytes: *physical_block_bytes,
            total_bytes: *total_bytes,
            free_bytes: *free_bytes,
        }
    }

    fn mark(&self, kind: Kind, text: &str) -> String {
        self.marker.mark(kind, text)
    }

    fn marked(&self, kind: Kind, text: Option<&String>) -> Option<String> {
        text.map(|text| self.mark(kind, text))
    }

    fn model(&self, text: &str) -> String {
        self.marker.text(text, Shape::Model)
    }

    fn models(&self, text: Option<&String>) -> Option<String> {
        text.map(|text| self.model(text))
    }

    /// The root directory reveals nothing.
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
