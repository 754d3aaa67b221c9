// swift-tools-version: 6.3
import PackageDescription

// A separate package, so that the library's manifest does not mention benchmarks. It sets no flags,
// because it measures the build of an ordinary client. `nats-bench` needs the trait and libnats.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "minirex-bench", targets: ["minirex-bench"]),
    .executable(name: "nats-bench", targets: ["nats-bench"]),
    .library(name: "Counting", type: .dynamic, targets: ["Counting"]),
  ],
  traits: ["NATS"],
  dependencies: [
    .package(
      name: "MiniRex", path: "..",
      traits: [.trait(name: "NATS", condition: .when(traits: ["NATS"]))])
  ],
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
    .executableTarget(
      name: "nats-bench",
      dependencies: [
        "Bare", .product(name: "MiniRex", package: "MiniRex"),
        .product(name: "MiniRexNATS", package: "MiniRex"),
        .product(name: "MiniRexFleet", package: "MiniRex"),
        .product(name: "MiniRexNATSStore", package: "MiniRex"),
        .product(name: "MiniRexReplica", package: "MiniRex"),
        .product(name: "MiniRexStore", package: "MiniRex"),
      ]),
    .target(
      name: "Bare", cSettings: [.define("NATS", .when(traits: ["NATS"]))],
      linkerSettings: [.linkedLibrary("nats", .when(traits: ["NATS"]))]),
    .target(name: "CBench"),
    .target(name: "Counting"),
  ],
  swiftLanguageModes: [.v6]
)
