// swift-tools-version: 6.3
import PackageDescription

// A separate package, so that the root never depends on C. Building it requires libnats (Debian:
// libnats-dev), and testing it requires a NATS server (Debian: nats-server).
let package = Package(
  name: "MiniRexNATS",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "MiniRexNATS", targets: ["MiniRexNATS"]),
    .library(name: "MiniRexNATSStore", targets: ["MiniRexNATSStore"]),
  ],
  dependencies: [.package(name: "MiniRex", path: "../..")],
  targets: [
    .systemLibrary(
      name: "CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"]), .brew(["cnats"])]),
    .target(
      name: "MiniRexNATS", dependencies: ["CNATS", .product(name: "MiniRex", package: "MiniRex")]),
    .target(
      name: "MiniRexNATSStore",
      dependencies: [
        "MiniRexNATS", .product(name: "MiniRex", package: "MiniRex"),
        .product(name: "MiniRexStore", package: "MiniRex"),
      ]),
    .executableTarget(
      name: "nats-guest",
      dependencies: [
        "MiniRexNATS", "MiniRexNATSStore", .product(name: "MiniRex", package: "MiniRex"),
        .product(name: "MiniRexStore", package: "MiniRex"),
      ],
      path: "Tests/nats-guest"),
    // Sources of the root package that are not a product there.
    .target(
      name: "FleetPageServer",
      dependencies: [
        .product(name: "MiniRex", package: "MiniRex"),
        .product(name: "MiniRexFoundationAdapters", package: "MiniRex"),
      ],
      path: "Examples/page-server"),
    .executableTarget(
      name: "fleet",
      dependencies: [
        "MiniRexNATS", "FleetPageServer", .product(name: "MiniRex", package: "MiniRex"),
        .product(name: "MiniRexFoundationAdapters", package: "MiniRex"),
      ],
      path: "Examples/fleet", resources: [.embedInCode("page.html")]),
    .executableTarget(
      name: "weather",
      dependencies: ["MiniRexNATS", .product(name: "MiniRex", package: "MiniRex")],
      path: "Examples/weather"),
    .target(name: "Bare", dependencies: ["CNATS"], path: "Benchmarks/bare"),
    .executableTarget(
      name: "nats-bench",
      dependencies: ["Bare", "MiniRexNATS", .product(name: "MiniRex", package: "MiniRex")],
      path: "Benchmarks/nats-bench"),
    .testTarget(
      name: "MiniRexNATSTests",
      dependencies: [
        "MiniRexNATS", "MiniRexNATSStore", "CNATS", "nats-guest", "weather", "fleet",
        .product(name: "MiniRexStore", package: "MiniRex"),
        .product(name: "MiniRexTesting", package: "MiniRex"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
  ]
}
