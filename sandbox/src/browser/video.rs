//! What is seen of a video.

/// Pictures out of a video, and what is said in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Video {
    /// Length in seconds; none where the page does not know it, as for a stream.
    pub seconds: Option<f64>,
    /// Frames in the order of time.
    pub frames: Vec<Frame>,
    /// Text of the caption tracks, a line each; empty where there are none.
    pub captions: String,
}

/// One picture of a video.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frame {
    /// Seconds from the start.
    pub at: f64,
    /// The picture, as JPEG.
    pub jpeg: Vec<u8>,
}
