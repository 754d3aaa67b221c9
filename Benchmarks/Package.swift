// swift-tools-version: 6.3
import PackageDescription

// A separate package, so that the library's manifest does not mention benchmarks. It sets no flags,
// because it measures the build of an ordinary client.
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
