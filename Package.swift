// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "MiniRex",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "MiniRex", targets: ["MiniRex"]),
    .library(name: "MiniRexDispatchAdapters", targets: ["MiniRexDispatchAdapters"]),
    .library(name: "MiniRexEssentialsAdapters", targets: ["MiniRexEssentialsAdapters"]),
    .library(name: "MiniRexFoundationAdapters", targets: ["MiniRexFoundationAdapters"]),
    .library(name: "MiniRexNetworkingAdapters", targets: ["MiniRexNetworkingAdapters"]),
    .library(name: "MiniRexTesting", targets: ["MiniRexTesting"]),
    .library(name: "MiniRexStore", targets: ["MiniRexStore"]),
    .library(name: "MiniRexStoreTesting", targets: ["MiniRexStoreTesting"]),
    .executable(name: "minirex-tail", targets: ["minirex-tail"]),
  ],
  targets: [
    .target(name: "MiniRex"),
    .target(name: "CLibrary"),
    .target(name: "MiniRexDispatchAdapters", dependencies: ["MiniRex", "CLibrary"]),
    .target(
      name: "MiniRexEssentialsAdapters",
      dependencies: ["MiniRex", "MiniRexDispatchAdapters", "CLibrary"]),
    .target(
      name: "MiniRexFoundationAdapters",
      dependencies: ["MiniRex", "MiniRexDispatchAdapters", "MiniRexEssentialsAdapters"]),
    .target(
      name: "MiniRexNetworkingAdapters",
      dependencies: ["MiniRex", "MiniRexEssentialsAdapters", "MiniRexFoundationAdapters"]),
    .target(name: "MiniRexTesting", dependencies: ["MiniRex"]),
    .target(name: "MiniRexStore", dependencies: ["MiniRex"]),
    .target(name: "MiniRexStoreTesting", dependencies: ["MiniRex", "MiniRexStore"]),
    .executableTarget(
      name: "minirex-tail", dependencies: ["MiniRex", "MiniRexFoundationAdapters"],
      path: "Examples/minirex-tail"),
    .executableTarget(
      name: "live-board", dependencies: ["MiniRex", "MiniRexFoundationAdapters"],
      path: "Examples/live-board", resources: [.embedInCode("page.html")]),
    .executableTarget(
      name: "issue-board", dependencies: ["MiniRex", "MiniRexFoundationAdapters", "MiniRexStore"],
      path: "Examples/issue-board"),
    .target(
      name: "ThermostatKit", dependencies: ["MiniRex"], path: "Examples/thermostat/ThermostatKit"),
    .executableTarget(
      name: "thermostat", dependencies: ["MiniRex", "ThermostatKit"],
      path: "Examples/thermostat/thermostat"),
    .target(
      name: "TestSupport", dependencies: ["MiniRex", "MiniRexTesting"], path: "Tests/TestSupport"),
    .testTarget(name: "MiniRexTests", dependencies: ["MiniRex", "MiniRexTesting", "TestSupport"]),
    .testTarget(
      name: "MiniRexFoundationAdaptersTests",
      dependencies: ["MiniRexFoundationAdapters", "MiniRexTesting", "TestSupport"]),
    .testTarget(
      name: "MiniRexNetworkingAdaptersTests",
      dependencies: ["MiniRexNetworkingAdapters", "MiniRexTesting", "TestSupport"]),
    .testTarget(name: "MiniRexTestingTests", dependencies: ["MiniRexTesting", "TestSupport"]),
    .testTarget(
      name: "MiniRexStoreTests", dependencies: ["MiniRexStore", "MiniRexTesting", "TestSupport"]),
    .testTarget(
      name: "MiniRexStoreTestingTests",
      dependencies: ["MiniRexStore", "MiniRexStoreTesting", "MiniRexTesting"]),
    .testTarget(
      name: "SoakTests",
      dependencies: [
        "MiniRexFoundationAdapters", "MiniRexNetworkingAdapters", "MiniRexTesting", "TestSupport",
      ]),
    .testTarget(
      name: "SampleTests",
      dependencies: [
        "MiniRex", "MiniRexFoundationAdapters", "MiniRexNetworkingAdapters", "MiniRexTesting",
        "MiniRexStore", "MiniRexStoreTesting",
      ]),
    .testTarget(name: "MinirexTailTests", dependencies: ["minirex-tail", "TestSupport"]),
    .testTarget(name: "LiveBoardTests", dependencies: ["live-board", "TestSupport"]),
    .testTarget(
      name: "IssueBoardTests", dependencies: ["issue-board", "MiniRexStoreTesting", "TestSupport"]),
    .testTarget(name: "ThermostatTests", dependencies: ["ThermostatKit", "MiniRexTesting"]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .strictMemorySafety(),
  ]
}
