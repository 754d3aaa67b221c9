#if NATS
/// The page with its style and its scripts, so that a browser needs one response.
enum FleetPageText {
  /// Not a `Data`, whose reference a leak detector does not recognize.
  private static let html: String = {
    let scripts = [PackageResources.words_js, PackageResources.rows_js, PackageResources.table_js]
    return text(PackageResources.page_html)
      .replacing("/* page.css */\n", with: text(PackageResources.page_css))
      .replacing("/* scripts */\n", with: scripts.map(text).joined(separator: "\n"))
  }()

  /// Returns the page of a fleet, whose name needs no escape.
  static func html(of fleet: String) -> [UInt8] {
    Array(html.replacing("FLEET_NAME", with: fleet).utf8)
  }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
#endif
