//! The form in which a question to the system is written: its documentation and its signature once,
//! and beside them the answer of a system that lacks it.

/// Declares functions and methods of handles that a backend answers:
///
/// ```text
/// face! {
///     os::timer;
///
///     /// Documentation.
///     pub fn slack_ns() -> Result<u64> = refuse("the slack of timers");
///
///     impl Timer {
///         /// Documentation.
///         pub fn new() -> Result<Self> = refuse("a timer to wait for");
///
///         /// Documentation.
///         pub fn wait_until(&mut self, moment_ns: u64) -> Result<()>;
///     }
/// }
/// ```
///
/// Each function calls the one with its name in the module of the backend. After `=` stands the answer
/// of a system that lacks it; a function without it must be in each backend. A handle is a struct around
/// the backend's type with the same name.
///
/// The module `lacking` holds these answers. A backend takes it in place of a module of its own, or
/// imports all of it into that: functions of its own go before imported ones.
macro_rules! face {
    (
        os::$module:ident;
        $(
            $(#[$attribute:meta])*
            pub fn $name:ident $arguments:tt $(-> $result:ty)? $(= $answer:expr)?;
        )*
        $(
            impl $handle:ident $(<$lifetime:lifetime>)? {
                $(
                    $(#[$method_attribute:meta])*
                    pub fn $method:ident $method_arguments:tt $(-> $method_result:ty)?
                        $(= $method_answer:expr)?;
                )*
            }
        )*
    ) => {
        $(call! {
            [$(#[$attribute])*] [$crate::os::$module] $name $arguments [$(-> $result)?]
        })*
        $(impl $handle $(<$lifetime>)? {
            $(call_method! {
                [$(#[$method_attribute])*] [$crate::os::$module::$handle]
                $method $method_arguments [$(-> $method_result)?]
            })*
        })*

        #[allow(
            dead_code, unused_imports, unused_variables, clippy::unnecessary_wraps,
            reason = "a backend needs only those that it lacks"
        )]
        pub(crate) mod lacking {
            use super::*;
            use $crate::error::{refuse, refuse_io};

            $(answer! { $name $arguments [$(-> $result)?] [$($answer)?] })*
            $(
                /// A system that lacks it has no value of it.
                #[derive(Debug)]
                pub(crate) enum $handle {}

                impl $handle {
                    $(answer! {
                        $method $method_arguments [$(-> $method_result)?] [$($method_answer)?]
                    })*
                }
            )*
        }
    };
}

/// A function that calls the backend's.
macro_rules! call {
    (
        [$($attribute:tt)*] [$($module:tt)*]
        $name:ident ($($argument:ident: $type:ty),* $(,)?) [$($result:tt)*]
    ) => {
        $($attribute)*
        pub fn $name($($argument: $type),*) $($result)* {
            $($module)*::$name($($argument),*)
        }
    };
}

/// A method that calls that of the backend's value, or a function that wraps a new one.
macro_rules! call_method {
    (
        [$($attribute:tt)*] [$($type:tt)*]
        $name:ident (&self $(, $argument:ident: $argument_type:ty)* $(,)?) [$($result:tt)*]
    ) => {
        $($attribute)*
        pub fn $name(&self $(, $argument: $argument_type)*) $($result)* {
            self.0.$name($($argument),*)
        }
    };
    (
        [$($attribute:tt)*] [$($type:tt)*]
        $name:ident (&mut self $(, $argument:ident: $argument_type:ty)* $(,)?) [$($result:tt)*]
    ) => {
        $($attribute)*
        pub fn $name(&mut self $(, $argument: $argument_type)*) $($result)* {
            self.0.$name($($argument),*)
        }
    };
    (
        [$($attribute:tt)*] [$($type:tt)*]
        $name:ident (self $(, $argument:ident: $argument_type:ty)* $(,)?) [$($result:tt)*]
    ) => {
        $($attribute)*
        pub fn $name(self $(, $argument: $argument_type)*) $($result)* {
            self.0.$name($($argument),*)
        }
    };
    (
        [$($attribute:tt)*] [$($type:tt)*]
        $name:ident ($($argument:ident: $argument_type:ty),* $(,)?) [$($result:tt)*]
    ) => {
        $($attribute)*
        pub fn $name($($argument: $argument_type),*) $($result)* {
            $($type)*::$name($($argument),*).map(Self)
        }
    };
}

/// The answer of a system that lacks a function. A method needs none: there is no value to call it on.
macro_rules! answer {
    ($name:ident (&self $($argument:tt)*) [$($result:tt)*] []) => {
        pub(crate) fn $name(&self $($argument)*) $($result)* {
            match *self {}
        }
    };
    ($name:ident (&mut self $($argument:tt)*) [$($result:tt)*] []) => {
        pub(crate) fn $name(&mut self $($argument)*) $($result)* {
            match *self {}
        }
    };
    ($name:ident (self $($argument:tt)*) [$($result:tt)*] []) => {
        pub(crate) fn $name(self $($argument)*) $($result)* {
            match self {}
        }
    };
    ($name:ident $arguments:tt [$($result:tt)*] []) => {};
    ($name:ident $arguments:tt [$($result:tt)*] [$answer:expr]) => {
        pub(crate) fn $name $arguments $($result)* {
            $answer
        }
    };
}
