// swift-tools-version: 6.3
import PackageDescription

// A separate package, so that the library's manifest does not mention its examples. The root has
// `minirex-tail`, and the programs that the tests of the NATS bridge start.
let package = Package(
  name: "Examples",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "MiniRex", path: "..")],
  targets: [
    .executableTarget(
      name: "counter-server",
      dependencies: products("MiniRexFoundationAdapters", "MiniRexJournal", "_PageServer"),
      path: "counter-server", exclude: ["README.md"], resources: [.embedInCode("page.html")]),
    .executableTarget(
      name: "first-programs", dependencies: products("MiniRexNetworkingAdapters"),
      path: "first-programs"),
    .executableTarget(
      name: "issue-board",
      dependencies: products("MiniRexInspector", "MiniRexJournal", "_PageServer"),
      path: "issue-board", resources: [.embedInCode("page.html")]),
    .executableTarget(
      name: "live-board",
      dependencies: products("MiniRexFoundationAdapters", "_PageServer"),
      path: "live-board", resources: [.embedInCode("page.html")]),
    .executableTarget(
      name: "shop",
      dependencies: products(
        "MiniRexFoundationAdapters", "MiniRexInspector", "MiniRexJournal", "_PageServer"),
      path: "shop"),
    .executableTarget(
      name: "spreadsheet", dependencies: products("MiniRex"), path: "spreadsheet"),
    .executableTarget(
      name: "thermostat", dependencies: ["ThermostatKit"], path: "thermostat/thermostat"),
    .target(
      name: "ThermostatKit", dependencies: products("MiniRex"), path: "thermostat/ThermostatKit"),

    tests("FirstProgramsTests", "first-programs"),
    tests("IssueBoardTests", "issue-board", products("MiniRexStoreTesting")),
    tests("LiveBoardTests", "live-board"),
    tests("ShopTests", "shop"),
    tests("SpreadsheetTests", "spreadsheet"),
    tests("ThermostatTests", "ThermostatKit"),
  ],
  swiftLanguageModes: [.v6]
)

func products(_ names: String...) -> [Target.Dependency] {
  names.map { .product(name: $0, package: "MiniRex") }
}

func tests(
  _ name: String, _ tested: Target.Dependency, _ others: [Target.Dependency] = []
) -> Target {
  .testTarget(
    name: name, dependencies: [tested] + others + products("MiniRexTesting", "_TestSupport"))
}

for target in package.targets {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
  ]
}
