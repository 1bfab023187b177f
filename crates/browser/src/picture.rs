//! Boxes with labels, drawn on a PNG picture, and parts of it covered.

mod font;

use png::{BitDepth, ColorType, Compression, Decoder, Encoder, Transformations};
use std::io::Cursor;

/// A box of the picture, in its pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PixelBox {
    pub(crate) x: i64,
    pub(crate) y: i64,
    pub(crate) width: i64,
    pub(crate) height: i64,
}

impl PixelBox {
    fn middle(self) -> (i64, i64) {
        (self.x + self.width / 2, self.y + self.height / 2)
    }

    fn holds(self, (x, y): (i64, i64)) -> bool {
        (self.x..self.x + self.width).contains(&x) && (self.y..self.y + self.height).contains(&y)
    }

    fn overlaps(self, other: Self) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }
}

/// A decoded picture.
#[derive(Debug)]
pub(crate) struct Picture {
    width: u32,
    height: u32,
    color: ColorType,
    bytes: Vec<u8>,
}

impl Picture {
    /// Decodes a PNG file. The error says what is wrong with it.
    pub(crate) fn decode(file: Vec<u8>) -> Result<Self, String> {
        let mut decoder = Decoder::new(Cursor::new(file));
        decoder.set_transformations(Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
        let size = reader.output_buffer_size().ok_or("it is too large")?;
        let mut bytes = vec![0; size];
        let frame = reader.next_frame(&mut bytes);
        let frame = frame.map_err(|error| error.to_string())?;
        match frame.color_type {
            ColorType::Rgb | ColorType::Rgba => Ok(Self {
                width: frame.width,
                height: frame.height,
                color: frame.color_type,
                bytes,
            }),
            other => Err(format!("it has the colors {other:?}")),
        }
    }

    /// Encodes it as a PNG file.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, String> {
        let mut file = Vec::new();
        let mut encoder = Encoder::new(&mut file, self.width, self.height);
        encoder.set_color(self.color);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_compression(Compression::Balanced);
        let written = encoder.write_header().and_then(|mut writer| {
            writer.write_image_data(&self.bytes)?;
            writer.finish()
        });
        written.map_err(|error| error.to_string())?;
        Ok(file)
    }

    pub(crate) fn width(&self) -> u32 {
        self.width
    }

    /// Covers boxes, so that nothing of what was there is left.
    pub(crate) fn cover(&mut self, boxes: impl IntoIterator<Item = PixelBox>) {
        for rect in boxes {
            self.fill(rect, BLACK);
        }
    }

    /// Draws a frame around each box, with its label. No label covers the middle of a box if there is another place.
    pub(crate) fn mark(&mut self, marks: &[(PixelBox, String)]) {
        let mut labels: Vec<PixelBox> = Vec::new();
        for (number, (rect, _)) in marks.iter().enumerate() {
            self.frame(*rect, COLORS[number % COLORS.len()]);
        }
        for (number, (rect, text)) in marks.iter().enumerate() {
            let place = self.place_of_label(*rect, text, marks, &labels);
            self.fill(place, COLORS[number % COLORS.len()]);
            self.write(place, text);
            labels.push(place);
        }
    }

    /// The first free place for a label around its box, or above it if none is free.
    fn place_of_label(
        &self,
        rect: PixelBox,
        text: &str,
        marks: &[(PixelBox, String)],
        labels: &[PixelBox],
    ) -> PixelBox {
        let (width, height) = label_size(text);
        let (right, bottom) = (rect.x + rect.width, rect.y + rect.height);
        let corners = [
            (rect.x, rect.y - height),
            (right - width, rect.y - height),
            (rect.x, bottom),
            (right - width, bottom),
            (rect.x - width, rect.y),
            (right, rect.y),
            (rect.x, rect.y),
            (right - width, bottom - height),
        ];
        let places = corners.map(|(x, y)| {
            self.inside(PixelBox {
                x,
                y,
                width,
                height,
            })
        });
        let is_free = |place: &&PixelBox| {
            let middles = marks.iter().map(|(other, _)| other.middle());
            let mut middles = middles.filter(|middle| place.holds(*middle));
            middles.next().is_none() && labels.iter().all(|label| !label.overlaps(**place))
        };
        let free = places.iter().find(is_free);
        free.copied().unwrap_or(places[0])
    }

    /// The box, moved into the picture.
    fn inside(&self, rect: PixelBox) -> PixelBox {
        let most = |size: u32, length: i64| (i64::from(size) - length).max(0);
        PixelBox {
            x: rect.x.clamp(0, most(self.width, rect.width)),
            y: rect.y.clamp(0, most(self.height, rect.height)),
            ..rect
        }
    }

    fn frame(&mut self, rect: PixelBox, color: [u8; 3]) {
        let PixelBox {
            x,
            y,
            width,
            height,
        } = rect;
        let line = |x, y, width, height| PixelBox {
            x,
            y,
            width,
            height,
        };
        self.fill(line(x, y, width, LINE), color);
        self.fill(line(x, y + height - LINE, width, LINE), color);
        self.fill(line(x, y, LINE, height), color);
        self.fill(line(x + width - LINE, y, LINE, height), color);
    }

    fn write(&mut self, place: PixelBox, text: &str) {
        let mut x = place.x + PADDING;
        for character in text.chars() {
            let rows = font::glyph(character);
            for (row, bits) in (0..).zip(rows) {
                for column in
                    (0..font::WIDTH).filter(|column| bits >> (font::WIDTH - 1 - column) & 1 == 1)
                {
                    let dot = PixelBox {
                        x: x + column * ZOOM,
                        y: place.y + PADDING + row * ZOOM,
                        width: ZOOM,
                        height: ZOOM,
                    };
                    self.fill(dot, WHITE);
                }
            }
            x += (font::WIDTH + 1) * ZOOM;
        }
    }

    fn fill(&mut self, rect: PixelBox, color: [u8; 3]) {
        let channels = self.color.samples();
        let side = |from: i64, length: i64, most: u32| {
            let most = i64::from(most);
            from.clamp(0, most)..(from + length).clamp(0, most)
        };
        for y in side(rect.y, rect.height, self.height) {
            for x in side(rect.x, rect.width, self.width) {
                let at = usize::try_from(y * i64::from(self.width) + x).unwrap_or(usize::MAX);
                let pixel = at
                    .checked_mul(channels)
                    .and_then(|at| self.bytes.get_mut(at..at + channels));
                if let Some(pixel) = pixel {
                    pixel.fill(255);
                    pixel[..3].copy_from_slice(&color);
                }
            }
        }
    }
}

fn label_size(text: &str) -> (i64, i64) {
    let count = i64::try_from(text.chars().count()).unwrap_or(i64::MAX / 100);
    let width = count * (font::WIDTH + 1) * ZOOM - ZOOM + 2 * PADDING;
    (width, font::HEIGHT * ZOOM + 2 * PADDING)
}

/// White text is readable on each of them.
const COLORS: [[u8; 3]; 6] = [
    [200, 0, 60],
    [0, 90, 200],
    [0, 115, 60],
    [140, 0, 160],
    [165, 75, 0],
    [0, 105, 125],
];
const WHITE: [u8; 3] = [255, 255, 255];
const BLACK: [u8; 3] = [0, 0, 0];
/// How thick a frame is.
const LINE: i64 = 2;
/// How many pixels a dot of the font is.
const ZOOM: i64 = 2;
const PADDING: i64 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn blank(width: u32, height: u32) -> Picture {
        Picture {
            width,
            height,
            color: ColorType::Rgb,
            bytes: vec![9; (width * height * 3) as usize],
        }
    }

    fn rect(x: i64, y: i64, width: i64, height: i64) -> PixelBox {
        PixelBox {
            x,
            y,
            width,
            height,
        }
    }

    #[test]
    fn a_marked_picture_survives_encoding() {
        let mut picture = blank(120, 60);
        picture.mark(&[(rect(20, 30, 50, 20), "12_3".into())]);
        let again = Picture::decode(picture.encode().unwrap()).unwrap();
        assert_eq!(again.bytes, picture.bytes);
        let pixel = |x: usize, y: usize| again.bytes[(y * 120 + x) * 3..][..3].to_vec();
        assert_eq!(pixel(20, 45), COLORS[0], "the frame");
        assert_eq!(pixel(45, 40), [9; 3], "the middle is untouched");
        assert_eq!(pixel(20, 15), COLORS[0], "the label is above");
        assert!(again.bytes.chunks(3).any(|pixel| pixel == WHITE));
    }

    #[test]
    fn a_covered_box_has_one_colour() {
        let mut picture = blank(10, 4);
        picture.cover([rect(2, 1, 3, 2), rect(8, -5, 100, 7)]);
        let black = |x: usize, y: usize| picture.bytes[(y * 10 + x) * 3..][..3] == BLACK;
        let count = (0..40).filter(|at| black(at % 10, at / 10)).count();
        assert_eq!(count, 3 * 2 + 2 * 2);
        assert!(black(2, 1) && black(4, 2) && black(9, 0) && !black(5, 1));
    }

    #[test]
    fn labels_leave_middles_and_each_other_free() {
        let mut marks = Vec::new();
        for row in 0..5 {
            for column in 0..5 {
                marks.push((
                    rect(10 + column * 60, 10 + row * 30, 50, 20),
                    format!("1_{row}{column}"),
                ));
            }
        }
        let picture = blank(320, 180);
        let mut labels = Vec::new();
        for (rect, text) in &marks {
            let place = picture.place_of_label(*rect, text, &marks, &labels);
            assert!(
                marks.iter().all(|(other, _)| !place.holds(other.middle())),
                "{text}"
            );
            labels.push(place);
        }
    }

    #[test]
    fn hostile_boxes_are_cut() {
        let mut picture = blank(10, 10);
        let far = i64::from(i32::MAX);
        picture.mark(&[
            (rect(-far, -far, 2 * far, 2 * far), "1".repeat(200)),
            (rect(far, far, 5, 5), "1_1".into()),
            (rect(0, 0, 0, 0), String::new()),
        ]);
        assert_eq!(picture.bytes.len(), 300);
    }

    #[test]
    fn what_is_no_picture_is_an_error() {
        assert!(Picture::decode(b"hello".to_vec()).is_err());
    }
}
