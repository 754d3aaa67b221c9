// swift-tools-version: 6.3
import PackageDescription

// One program per product, with the default settings of a package, to measure its dependencies.
let package = Package(
  name: "Products",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "MiniRex", path: "../..")],
  targets: [
    .executableTarget(name: "bare"),
    program("core", of: "MiniRex"),
    program("recording", of: "MiniRexTesting"),
    program("keeping", of: "MiniRexStore"),
    program("expecting", of: "MiniRexStoreTesting"),
    program("lasting", of: "MiniRexJournal"),
    program("queues", of: "MiniRexDispatchAdapters"),
    program("files", of: "MiniRexEssentialsAdapters"),
    program("looking", of: "MiniRexInspector"),
    program("showing", of: "MiniRexInspector"),
    program("notifications", of: "MiniRexFoundationAdapters"),
    program("transfers", of: "MiniRexNetworkingAdapters"),
  ],
  swiftLanguageModes: [.v6]
)

func program(_ name: String, of product: String) -> Target {
  // The programs also name products that their product builds on.
  let beside =
    ["MiniRexStoreTesting", "MiniRexJournal", "MiniRexInspector"].contains(product)
    ? ["MiniRexStore"] : []
  return .executableTarget(
    name: name,
    dependencies: Set(["MiniRex", product] + beside).sorted().map {
      .product(name: $0, package: "MiniRex")
    })
}
