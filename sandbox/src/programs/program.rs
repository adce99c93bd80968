//! The programs that are known, and what each is for.

/// A program of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Program {
    /// Decodes sounds and videos.
    Ffmpeg,
    /// Tells what is in sounds and videos.
    Ffprobe,
    /// Recognises text in pictures.
    Tesseract,
    /// Draws the pages of a PDF.
    Pdftoppm,
    /// Decodes HEIC and AVIF pictures.
    HeifConvert,
    /// Recognises speech: the Python that `wildgym setup --speech` chose.
    Speech,
}

impl Program {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Ffmpeg,
        Self::Ffprobe,
        Self::Tesseract,
        Self::Pdftoppm,
        Self::HeifConvert,
        Self::Speech,
    ];

    /// Returns the name by which it is found in `PATH`; none for what is not looked for there.
    #[must_use]
    pub fn file(self) -> Option<&'static str> {
        match self {
            Self::Ffmpeg => Some("ffmpeg"),
            Self::Ffprobe => Some("ffprobe"),
            Self::Tesseract => Some("tesseract"),
            Self::Pdftoppm => Some("pdftoppm"),
            Self::HeifConvert => Some("heif-convert"),
            Self::Speech => None,
        }
    }

    /// Returns the name by which people know it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.file().unwrap_or("the speech engine")
    }

    /// Says how it is installed.
    #[must_use]
    pub fn install(self) -> &'static str {
        match self {
            Self::Ffmpeg | Self::Ffprobe => "install the package `ffmpeg`",
            Self::Tesseract => "install the package `tesseract-ocr`",
            Self::Pdftoppm => "install the package `poppler-utils`",
            Self::HeifConvert => "install the package `libheif-examples`",
            Self::Speech => "run `wildgym setup --speech` once",
        }
    }

    /// Says what is not possible without it.
    #[must_use]
    pub fn needed_for(self) -> &'static str {
        match self {
            Self::Ffmpeg | Self::Ffprobe => "sounds and videos",
            Self::Tesseract => "text in pictures and scanned pages, where no model looks at them",
            Self::Pdftoppm => "scanned pages",
            Self::HeifConvert => "HEIC and AVIF pictures",
            Self::Speech => "speech, where no model hears it",
        }
    }
}
