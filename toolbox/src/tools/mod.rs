//! The tools, one file each. A tool is listed in [`crate::catalog`].

pub mod ask_question_about_audio;
pub mod ask_question_about_image;
pub mod ask_question_about_video;
pub mod ask_user;
pub mod audio2text;
pub mod browse_url;
pub mod execute_code;
pub mod extract_document_content;
pub mod extract_excel_content;
pub mod google_scholar;
pub mod image_to_text;
pub mod operation;
pub mod page_actions;
pub mod scrape;
pub mod search_serper;
pub mod search_wiki;

#[cfg(test)]
mod web_fixture;
