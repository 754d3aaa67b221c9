// swift-tools-version: 6.3
import PackageDescription

// A package of its own, so that the library's manifest stays free of it, and with no flags at all: what
// is measured is what an ordinary client gets.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "minirex-bench", targets: ["minirex-bench"]),
    .library(name: "Counting", type: .dynamic, targets: ["Counting"]),
  ],
  dependencies: [.package(name: "MiniRex", path: "..")],
  targets: [
    .executableTarget(
      name: "minirex-bench",
      dependencies: [
        "CBench", .product(name: "MiniRex", package: "MiniRex"),
        .product(name: "MiniRexFoundationAdapters", package: "MiniRex"),
        .product(name: "MiniRexNetworkingAdapters", package: "MiniRex"),
        .product(name: "MiniRexStore", package: "MiniRex"),
        .product(name: "MiniRexJournal", package: "MiniRex"),
      ]),
    .target(name: "CBench"),
    .target(name: "Counting"),
  ],
  swiftLanguageModes: [.v6]
)
