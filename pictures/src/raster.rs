//! A picture as dots of three bytes or one, and what is done with them before others see it.
//!
//! Arithmetic on bytes only. What is transparent lies on white, as paper does; sizes are
//! checked by `decode`, before anything is reserved.

/// A picture: `dots` holds the channels of each dot, row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Raster {
    pub(super) width: usize,
    pub(super) height: usize,
    /// Channels: red, green and blue, or brightness alone.
    pub(super) depth: usize,
    pub(super) dots: Vec<u8>,
}

/// What the weights of a resampled dot add up to, as a power of two.
const UNIT: u32 = 14;

/// The shares of source dots in one dot of the result: where they begin, and each one's.
struct Shares {
    first: usize,
    weights: Vec<u32>,
}

impl Raster {
    /// Makes a picture of dots in colour.
    pub(super) fn of_rgb(width: usize, height: usize, dots: Vec<u8>) -> Self {
        Self { width, height, depth: 3, dots }
    }

    /// Makes a picture in colour of gray dots.
    pub(super) fn of_gray(width: usize, height: usize, gray: &[u8]) -> Self {
        Self::of_rgb(width, height, gray.iter().flat_map(|dot| [*dot; 3]).collect())
    }

    /// Lays dots with transparency on white, in place.
    pub(super) fn of_rgba(width: usize, height: usize, mut dots: Vec<u8>) -> Self {
        for dot in 0..dots.len() / 4 {
            let alpha = u32::from(dots[4 * dot + 3]);
            for channel in 0..3 {
                let value = u32::from(dots[4 * dot + channel]);
                let mixed = (value * alpha + 255 * (255 - alpha) + 127) / 255;
                dots[3 * dot + channel] = low(mixed);
            }
        }
        dots.truncate(3 * width * height);
        Self::of_rgb(width, height, dots)
    }

    /// Turns inks (cyan, magenta, yellow, black; 255 is all of it) into light, in place and
    /// without a colour profile: `(255 - ink) (255 - black) / 255`.
    pub(super) fn of_inks(width: usize, height: usize, mut dots: Vec<u8>) -> Self {
        for dot in 0..dots.len() / 4 {
            let light = 255 - u32::from(dots[4 * dot + 3]);
            for channel in 0..3 {
                let value = 255 - u32::from(dots[4 * dot + channel]);
                dots[3 * dot + channel] = low((value * light + 127) / 255);
            }
        }
        dots.truncate(3 * width * height);
        Self::of_rgb(width, height, dots)
    }

    /// Returns the brightness of each dot of a picture in colour (ITU-R BT.601).
    pub(super) fn gray(self) -> Self {
        let bright = |dot: &[u8]| match dot {
            [red, green, blue] => {
                low((u32::from(*red) * 77 + u32::from(*green) * 150 + u32::from(*blue) * 29) >> 8)
            }
            _ => 0,
        };
        let dots = self.dots.chunks_exact(3).map(bright).collect();
        Self { depth: 1, dots, ..self }
    }

    /// Returns the picture in another size, neither side zero. Each dot of the result is a
    /// mean of those that it covers, weighted by a triangle; of far larger pictures, whole
    /// squares are put together first.
    pub(super) fn scaled(self, width: usize, height: usize) -> Self {
        if (width, height) == (self.width, self.height) {
            return self;
        }
        let square = (self.width / width.max(1)).min(self.height / height.max(1));
        let source = if square > 1 { self.coarser(square) } else { self };
        source.wide(width).tall(height)
    }

    /// Puts squares of that many dots together; what is left at the edges is left out.
    fn coarser(&self, square: usize) -> Self {
        let (width, height) = (self.width / square, self.height / square);
        let count = u32::try_from(square * square).unwrap_or(u32::MAX);
        let length = self.depth * self.width;
        let mut dots = Vec::with_capacity(self.depth * width * height);
        let mut sums = vec![0_u32; self.depth * width];
        for row in 0..height {
            sums.fill(0);
            for line in row * square..(row + 1) * square {
                let line = &self.dots[line * length..][..length];
                let parts = line.chunks_exact(self.depth * square);
                for (sum, part) in sums.chunks_exact_mut(self.depth).zip(parts) {
                    for dot in part.chunks_exact(self.depth) {
                        for (sum, value) in sum.iter_mut().zip(dot) {
                            *sum += u32::from(*value);
                        }
                    }
                }
            }
            dots.extend(sums.iter().map(|sum| low((sum + count / 2) / count)));
        }
        Self { width, height, depth: self.depth, dots }
    }

    /// Changes the width.
    fn wide(self, width: usize) -> Self {
        if width == self.width {
            return self;
        }
        let shares = shares(self.width, width);
        let mut dots = Vec::with_capacity(self.depth * width * self.height);
        for line in self.dots.chunks_exact(self.depth * self.width) {
            for Shares { first, weights } in &shares {
                let near = &line[self.depth * first..];
                for channel in 0..self.depth {
                    let mut sum = 1 << (UNIT - 1);
                    let mut at = channel;
                    for weight in weights {
                        sum += u32::from(near[at]) * weight;
                        at += self.depth;
                    }
                    dots.push(low(sum >> UNIT));
                }
            }
        }
        Self { width, dots, ..self }
    }

    /// Changes the height.
    fn tall(self, height: usize) -> Self {
        if height == self.height {
            return self;
        }
        let length = self.depth * self.width;
        let mut dots = Vec::with_capacity(length * height);
        let mut sums = vec![0_u32; length];
        for Shares { first, weights } in shares(self.height, height) {
            sums.fill(1 << (UNIT - 1));
            for (line, weight) in self.dots[first * length..].chunks_exact(length).zip(weights) {
                for (sum, value) in sums.iter_mut().zip(line) {
                    *sum += u32::from(*value) * weight;
                }
            }
            dots.extend(sums.iter().map(|sum| low(sum >> UNIT)));
        }
        Self { height, dots, ..self }
    }

    /// Returns the picture upright: `orientation` is the value that EXIF gives (1 to 8),
    /// others change nothing.
    ///
    /// Source: CIPA DC-008 (Exif 2.32), section 4.6.4 A, tag `Orientation`.
    pub(super) fn turned(self, orientation: u8) -> Self {
        let (w, h) = (self.width, self.height);
        let from: fn(usize, usize, usize, usize) -> (usize, usize) = match orientation {
            2 => |x, y, w, _| (w - 1 - x, y),
            3 => |x, y, w, h| (w - 1 - x, h - 1 - y),
            4 => |x, y, _, h| (x, h - 1 - y),
            5 => |x, y, _, _| (y, x),
            6 => |x, y, _, h| (y, h - 1 - x),
            7 => |x, y, w, h| (w - 1 - y, h - 1 - x),
            8 => |x, y, w, _| (w - 1 - y, x),
            _ => return self,
        };
        let (width, height) = if orientation >= 5 { (h, w) } else { (w, h) };
        let mut dots = Vec::with_capacity(self.dots.len());
        for y in 0..height {
            for x in 0..width {
                let (column, line) = from(x, y, w, h);
                dots.extend_from_slice(
                    &self.dots[self.depth * (line * w + column)..][..self.depth],
                );
            }
        }
        Self { width, height, dots, ..self }
    }
}

/// Returns for each of `count` dots which of `source` dots it is made of.
///
/// A triangle whose half width is one dot of the coarser of both; positions in 65536ths.
fn shares(source: usize, count: usize) -> Vec<Shares> {
    let half = ((source << 16) / count).max(1 << 16);
    (0..count)
        .map(|dot| {
            let centre = ((2 * dot + 1) * (source << 16)) / (2 * count);
            let first = centre.saturating_sub(half) >> 16;
            let last = ((centre + half) >> 16).min(source - 1);
            let near =
                |other: usize| half.saturating_sub(((other << 16) + (1 << 15)).abs_diff(centre));
            let all: usize = (first..=last).map(near).sum();
            let mut weights: Vec<u32> = (first..=last)
                .map(|other| u32::try_from((near(other) << UNIT) / all.max(1)).unwrap_or_default())
                .collect();
            // What rounding took goes to the middle, so that white stays white.
            let sum: u32 = weights.iter().sum();
            let middle = weights.len() / 2;
            weights[middle] += (1 << UNIT) - sum.min(1 << UNIT);
            Shares { first, weights }
        })
        .collect()
}

/// Returns the lowest byte; for values that are known to have no other.
fn low(value: u32) -> u8 {
    value.to_le_bytes()[0]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A picture of two rows of three dots, numbered from 1.
    fn numbered() -> Raster {
        Raster::of_gray(3, 2, &[1, 2, 3, 4, 5, 6])
    }

    #[test]
    fn orientations_turn_as_exif_says() {
        let table: [(u8, usize, &[u8], &str); 9] = [
            (1, 3, &[1, 2, 3, 4, 5, 6], "upright"),
            (2, 3, &[3, 2, 1, 6, 5, 4], "mirrored"),
            (3, 3, &[6, 5, 4, 3, 2, 1], "upside down"),
            (4, 3, &[4, 5, 6, 1, 2, 3], "mirrored upside down"),
            (5, 2, &[1, 4, 2, 5, 3, 6], "transposed"),
            (6, 2, &[4, 1, 5, 2, 6, 3], "a quarter clockwise is due"),
            (7, 2, &[6, 3, 5, 2, 4, 1], "transposed the other way"),
            (8, 2, &[3, 6, 2, 5, 1, 4], "a quarter the other way is due"),
            (9, 3, &[1, 2, 3, 4, 5, 6], "no such orientation"),
        ];
        for (orientation, width, want, why) in table {
            let turned = numbered().turned(orientation);
            assert_eq!(turned.width, width, "{why}");
            let reds: Vec<u8> = turned.dots.chunks(3).map(|dot| dot[0]).collect();
            assert_eq!(reds, want, "{why}");
        }
    }

    #[test]
    fn inks_and_transparency_become_light() {
        let inks = vec![0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 255, 0, 255, 255, 0];
        let dots = Raster::of_inks(4, 1, inks).dots;
        assert_eq!(
            dots,
            [255, 255, 255, 0, 255, 255, 0, 0, 0, 255, 0, 0],
            "white, cyan, black, red"
        );
        let clear = Raster::of_rgba(2, 1, vec![0, 0, 0, 0, 10, 20, 30, 255]).dots;
        assert_eq!(clear, [255, 255, 255, 10, 20, 30], "nothing is white");
    }

    proptest! {
        /// One colour stays that colour at any size, so no weight is lost or doubled.
        #[test]
        fn a_plain_picture_stays_plain(
            size in (1_usize..60, 1_usize..60), to in (1_usize..60, 1_usize..60), value: u8,
        ) {
            let plain = Raster::of_rgb(size.0, size.1, vec![value; 3 * size.0 * size.1]);
            let scaled = plain.scaled(to.0, to.1);
            prop_assert_eq!((scaled.width, scaled.height), to);
            prop_assert_eq!(scaled.dots.len(), 3 * to.0 * to.1);
            prop_assert!(scaled.dots.iter().all(|other| other.abs_diff(value) <= 1));
        }

        #[test]
        fn turning_there_and_back_changes_nothing(orientation in 1_u8..9) {
            let back = match orientation { 6 => 8, 8 => 6, other => other };
            prop_assert_eq!(numbered().turned(orientation).turned(back), numbered());
        }
    }
}
