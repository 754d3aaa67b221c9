/// The page with its style and its scripts, so that a browser needs one response.
enum InspectorPage {
  /// Not a `Data`, whose reference a leak detector does not recognize.
  static let html: [UInt8] = {
    let page = text(PackageResources.page_html)
      .replacing("/* page.css */\n", with: text(PackageResources.page_css))
      .replacing("/* scripts */\n", with: scripts.map(text).joined(separator: "\n"))
    return Array(page.utf8)
  }()

  /// The scripts in the order of the page.
  ///
  /// They become one script, in which a function may be declared later than its first call. A constant
  /// that is read while the page loads must be in an earlier script.
  private static let scripts = [
    PackageResources.shared_js,
    PackageResources.layout_js,
    PackageResources.graph_js,
    PackageResources.pointing_js,
    PackageResources.stores_js,
    PackageResources.commits_js,
    PackageResources.effects_js,
    PackageResources.jobs_js,
    PackageResources.scopes_js,
    PackageResources.detail_js,
    PackageResources.session_js,
    PackageResources.connection_js,
  ]

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
