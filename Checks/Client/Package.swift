// swift-tools-version: 6.3
import PackageDescription

// Uses MiniRex from outside, with the default settings of a new package. It is a separate package,
// because its target named Combine must not be visible to users of MiniRex.
let package = Package(
  name: "Client",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "MiniRex", path: "../..")],
  targets: [
    .target(name: "Combine"),
    .target(
      name: "BesideCombine",
      dependencies: ["Combine", .product(name: "MiniRex", package: "MiniRex")]),
    .target(
      name: "Chains", dependencies: [.product(name: "MiniRex", package: "MiniRex")],
      swiftSettings: [
        .unsafeFlags(["-Xfrontend", "-warn-long-expression-type-checking=100"])
      ]),
    .executableTarget(
      name: "client",
      dependencies: [
        "BesideCombine", "Chains",
        .product(name: "MiniRex", package: "MiniRex"),
        .product(name: "MiniRexDispatchAdapters", package: "MiniRex"),
        .product(name: "MiniRexEssentialsAdapters", package: "MiniRex"),
        .product(name: "MiniRexJournal", package: "MiniRex"),
        .product(name: "MiniRexStore", package: "MiniRex"),
        .product(name: "MiniRexStoreTesting", package: "MiniRex"),
        .product(name: "MiniRexTesting", package: "MiniRex"),
      ]),
    .executableTarget(
      name: "example", dependencies: [.product(name: "MiniRex", package: "MiniRex")]),
  ],
  swiftLanguageModes: [.v6]
)
