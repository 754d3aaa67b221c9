// swift-tools-version: 6.3
import PackageDescription

// A package of its own, so that the root never sees C: building this one needs libnats (Debian:
// libnats-dev), and testing it a NATS server (Debian: nats-server).
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
    // The sources of the root package, which does not offer them to others.
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
        "MiniRexNATS", "MiniRexNATSStore", "CNATS", "nats-guest", "weather",
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
