use std::marker::PhantomData;

use crate::error::{Result, refuse};

pub(crate) enum Never {}

pub(crate) struct Mutex<T>(Never, PhantomData<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(_value: T) -> Result<Self> {
        refuse("pthread_mutex_t")
    }

    pub(crate) fn with<R>(&self, _work: impl FnOnce(&mut T) -> R) -> R {
        match self.0 {}
    }
}

pub(crate) struct Spin<T>(Never, PhantomData<T>);

impl<T> Spin<T> {
    pub(crate) fn new(_value: T) -> Result<Self> {
        refuse("pthread_spinlock_t")
    }

    pub(crate) fn with<R>(&self, _work: impl FnOnce(&mut T) -> R) -> R {
        match self.0 {}
    }
}
