//! Part of oscope.
