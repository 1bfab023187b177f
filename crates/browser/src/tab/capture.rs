//! Pictures and prints of a tab.

use super::Tab;
use crate::script::LONGEST;
use tabmux_cdp::CdpError;
use tabmux_cdp::types::page;

impl Tab {
    /// The sizes of the viewport and of the whole page.
    pub(crate) async fn layout(&self) -> Result<page::GetLayoutMetricsResponse, CdpError> {
        self.session().send(page::GetLayoutMetrics::default()).await
    }

    /// Takes a screenshot; base64, as Chrome sends it.
    pub(crate) async fn capture(
        &self,
        capture: page::CaptureScreenshot,
    ) -> Result<String, CdpError> {
        self.session().send(capture).await.map(|taken| taken.data)
    }

    /// Prints the page.
    pub(crate) async fn print(
        &self,
        print: page::PrintToPDF,
    ) -> Result<page::PrintToPDFResponse, CdpError> {
        self.session().send_within(print, LONGEST).await
    }
}
