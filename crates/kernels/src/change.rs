/// Changes every byte: adds 5 and takes the remainder by 250. Loads and stores each byte once, in
/// ascending order.
#[inline(never)]
pub fn change(bytes: &mut [u8]) {
    for byte in bytes {
        *byte = ((u16::from(*byte) + 5) % 250) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::change;

    #[test]
    fn every_byte_moves_on_by_five_and_wraps() {
        let mut bytes: Vec<u8> = (0..=255).collect();
        change(&mut bytes);
        assert_eq!(bytes[..3], [5, 6, 7]);
        assert_eq!(bytes[244..], [249, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }
}
