//! The form in which a question to the system is written: its documentation and its signature once,
//! and beside them the answer of a system that lacks it.

/// Declares functions, methods of types and methods of handles that a backend answers:
///
/// ```text
/// face! {
///     os::timer;
///
///     /// Documentation.
///     pub fn slack_ns() -> Result<u64> = refuse("the slack of timers");
///
///     // A function that only this crate calls.
///     fn is_exact(clock: Clock) -> bool = false;
///
///     for Resolution {
///         /// Documentation.
///         pub fn read() -> Resolution;
///     }
///
///     impl Timer {
///         /// Documentation.
///         pub fn new() -> Result<Self> = refuse("a timer to wait for");
///
///         /// Documentation.
///         pub fn wait_until(&mut self, moment_ns: u64) -> Result<()>;
///
///         // A method that only this crate calls.
///         fn has_passed(&self) -> bool = false;
///     }
/// }
/// ```
///
/// Each function calls the one with its name in the module of the backend; so does each function of a
/// type after `for`. A handle, after `impl`, is a struct around the backend's type with the same name.
///
/// After `=` stands the answer of a system that lacks it; a function without it must be in each
/// backend. The module `lacking` holds these answers. A backend takes it in place of a module of its
/// own, or imports all of it into that: functions of its own go before imported ones. A backend's own
/// type gets the answers of all methods that it lacks from the trait with its name in
/// `lacking::methods`.
macro_rules! face {
    (
        os::$module:ident;
        $(
            $(#[$attribute:meta])*
            pub fn $name:ident $arguments:tt $(-> $result:ty)? $(= $answer:expr)?;
        )*
        $(
            fn $own_name:ident $own_arguments:tt $(-> $own_result:ty)? $(= $own_answer:expr)?;
        )*
        $(
            for $type:ident {
                $(
                    $(#[$type_attribute:meta])*
                    pub fn $type_name:ident $type_arguments:tt $(-> $type_result:ty)?
                        $(= $type_answer:expr)?;
                )*
            }
        )*
        $(
            impl $handle:ident $(<$lifetime:lifetime>)? {
                $(
                    $(#[$method_attribute:meta])*
                    pub fn $method:ident $method_arguments:tt $(-> $method_result:ty)?
                        $(= $method_answer:expr)?;
                )*
                $(
                    fn $own_method:ident $own_method_arguments:tt $(-> $own_method_result:ty)?
                        $(= $own_method_answer:expr)?;
                )*
            }
        )*
    ) => {
        $(call! {
            [$(#[$attribute])*] [$crate::os::$module] $name $arguments [$(-> $result)?]
        })*
        $(impl $type {
            $(call! {
                [$(#[$type_attribute])*] [$crate::os::$module]
                $type_name $type_arguments [$(-> $type_result)?]
            })*
        })*
        $(
            #[allow(unused_imports, reason = "a backend that has all methods needs no answers")]
            use lacking::methods::$handle as _;

            impl $handle $(<$lifetime>)? {
                $(call_method! {
                    [$(#[$method_attribute])*] [$crate::os::$module::$handle]
                    $method $method_arguments [$(-> $method_result)?]
                })*
            }
        )*

        #[allow(
            dead_code, unused_imports, unused_variables,
            clippy::needless_pass_by_value, clippy::unnecessary_wraps,
            reason = "a backend needs only those that it lacks"
        )]
        pub(crate) mod lacking {
            use super::*;
            use $crate::error::{refuse, refuse_io};

            $(answer! { $name $arguments [$(-> $result)?] [$($answer)?] })*
            $(answer! { $own_name $own_arguments [$(-> $own_result)?] [$($own_answer)?] })*
            $($(answer! {
                $type_name $type_arguments [$(-> $type_result)?] [$($type_answer)?]
            })*)*
            $(
                /// A system that lacks it has no value of it.
                #[derive(Debug)]
                pub(crate) enum $handle {}

                impl methods::$handle for $handle {}

                // Callers that drop a handle get no lint for one that has nothing to drop.
                impl Drop for $handle {
                    fn drop(&mut self) {
                        match *self {}
                    }
                }

                impl $handle {
                    $(never! {
                        $method $method_arguments [$(-> $method_result)?] [$($method_answer)?]
                    })*
                    $(never! {
                        $own_method $own_method_arguments [$(-> $own_method_result)?]
                        [$($own_method_answer)?]
                    })*
                }
            )*

            /// The answers for the methods that a backend's own type lacks.
            pub(crate) mod methods {
                use super::*;

                $(pub(crate) trait $handle: Sized {
                    $(answer_method! {
                        $method $method_arguments [$(-> $method_result)?] [$($method_answer)?]
                    })*
                    $(answer_method! {
                        $own_method $own_method_arguments [$(-> $own_method_result)?]
                        [$($own_method_answer)?]
                    })*
                })*
            }
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

/// The answer of a system that lacks a function.
macro_rules! answer {
    ($name:ident $arguments:tt [$($result:tt)*] []) => {};
    ($name:ident $arguments:tt [$($result:tt)*] [$answer:expr]) => {
        pub(crate) fn $name $arguments $($result)* {
            $answer
        }
    };
}

/// As [`answer!`], for a method.
macro_rules! answer_method {
    ($name:ident $arguments:tt [$($result:tt)*] []) => {};
    ($name:ident $arguments:tt [$($result:tt)*] [$answer:expr]) => {
        fn $name $arguments $($result)* {
            $answer
        }
    };
}

/// A method without an answer, of a type without values. There is no value to call it on.
macro_rules! never {
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
    ($name:ident $arguments:tt [$($result:tt)*] [$($answer:expr)?]) => {};
}
