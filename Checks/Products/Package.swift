// swift-tools-version: 6.3
import PackageDescription

// A program for each product, in the plain settings of a new package, to see what it brings.
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
    program("notifications", of: "MiniRexFoundationAdapters"),
    program("transfers", of: "MiniRexNetworkingAdapters"),
  ],
  swiftLanguageModes: [.v6]
)

func program(_ name: String, of product: String) -> Target {
  // A product that is built on another needs its words, too.
  let beside =
    ["MiniRexStoreTesting", "MiniRexJournal", "MiniRexInspector"].contains(product)
    ? ["MiniRexStore"] : []
  return .executableTarget(
    name: name,
    dependencies: Set(["MiniRex", product] + beside).sorted().map {
      .product(name: $0, package: "MiniRex")
    })
}
