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
    .library(name: "MiniRexJournal", targets: ["MiniRexJournal"]),
    .library(name: "MiniRexInspector", targets: ["MiniRexInspector"]),
    .library(name: "MiniRexReplica", targets: ["MiniRexReplica"]),
    .library(name: "MiniRexNATS", targets: ["MiniRexNATS"]),
    .library(name: "MiniRexNATSStore", targets: ["MiniRexNATSStore"]),
    .library(name: "MiniRexFleet", targets: ["MiniRexFleet"]),
    .executable(name: "minirex-tail", targets: ["minirex-tail"]),
    .executable(name: "minirex-journal", targets: ["minirex-journal"]),
  ],
  traits: [
    .trait(
      name: "NATS",
      description:
        "Builds the NATS bridge and MiniRexFleet. Requires libnats (Debian: libnats-dev).")
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
    .target(name: "MiniRexJournal", dependencies: ["MiniRex", "MiniRexStore", "CLibrary"]),
    .target(name: "MiniRexPageServer", dependencies: ["MiniRex"]),
    .target(
      name: "MiniRexInspector",
      dependencies: [
        "MiniRex", "MiniRexFoundationAdapters", "MiniRexPageServer", "MiniRexStore",
      ],
      resources: [.embedInCode("Page")]),
    .target(name: "MiniRexStoreTesting", dependencies: ["MiniRex", "MiniRexStore"]),
    .target(
      name: "MiniRexReplica",
      dependencies: ["MiniRex", "MiniRexJournal", "MiniRexStore", "CLibrary"]),
    // Each source of these targets begins with `#if NATS`, because a trait cannot exclude a target.
    .systemLibrary(
      name: "CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"]), .brew(["cnats"])]),
    .target(
      name: "MiniRexNATS",
      dependencies: ["MiniRex", .target(name: "CNATS", condition: .when(traits: ["NATS"]))]),
    .target(
      name: "MiniRexNATSStore",
      dependencies: ["MiniRex", "MiniRexJournal", "MiniRexNATS", "MiniRexReplica", "MiniRexStore"]),
    .target(
      name: "MiniRexFleet",
      dependencies: [
        "MiniRex", "MiniRexDispatchAdapters", "MiniRexInspector", "MiniRexNATS",
        "MiniRexPageServer", "MiniRexReplica", "MiniRexStore",
      ],
      resources: [.embedInCode("Page")]),
    .executableTarget(
      name: "fleet",
      dependencies: [
        "MiniRex", "MiniRexFleet", "MiniRexFoundationAdapters", "MiniRexNATS", "MiniRexNATSStore",
        "MiniRexReplica", "MiniRexStore",
      ],
      path: "Examples/fleet"),
    .executableTarget(
      name: "fleet-board",
      dependencies: ["MiniRex", "MiniRexFleet", "MiniRexNATS", "MiniRexStore"],
      path: "Examples/fleet-board"),
    .executableTarget(
      name: "weather", dependencies: ["MiniRex", "MiniRexNATS"], path: "Examples/weather"),
    .executableTarget(
      name: "nats-guest",
      dependencies: [
        "MiniRex", "MiniRexFleet", "MiniRexNATS", "MiniRexNATSStore", "MiniRexReplica",
        "MiniRexStore",
      ],
      path: "Tests/NATSGuest"),
    .testTarget(
      name: "MiniRexReplicaTests",
      dependencies: [
        "MiniRex", "MiniRexJournal", "MiniRexReplica", "MiniRexStore", "MiniRexTesting",
        "TestSupport",
      ]),
    .testTarget(
      name: "MiniRexNATSTests",
      dependencies: [
        "MiniRex", "MiniRexDispatchAdapters", "MiniRexFleet", "MiniRexInspector", "MiniRexNATS",
        "MiniRexNATSStore",
        "MiniRexPageServer", "MiniRexReplica", "MiniRexStore", "MiniRexTesting", "TestSupport",
        "fleet", "fleet-board", "nats-guest", "weather",
      ]),
    .executableTarget(
      name: "minirex-tail", dependencies: ["MiniRex", "MiniRexFoundationAdapters"],
      path: "Examples/minirex-tail"),
    .executableTarget(
      name: "live-board",
      dependencies: ["MiniRex", "MiniRexFoundationAdapters", "MiniRexPageServer"],
      path: "Examples/live-board", resources: [.embedInCode("page.html")]),
    .executableTarget(
      name: "issue-board",
      dependencies: [
        "MiniRex", "MiniRexFoundationAdapters", "MiniRexInspector", "MiniRexJournal",
        "MiniRexPageServer", "MiniRexStore",
      ],
      path: "Examples/issue-board", resources: [.embedInCode("page.html")]),
    .executableTarget(
      name: "spreadsheet", dependencies: ["MiniRex"], path: "Examples/spreadsheet"),
    .executableTarget(
      name: "counter-server",
      dependencies: [
        "MiniRex", "MiniRexFoundationAdapters", "MiniRexJournal", "MiniRexPageServer",
        "MiniRexStore",
      ],
      path: "Examples/counter-server", exclude: ["README.md"],
      resources: [.embedInCode("page.html")]),
    .target(
      name: "ThermostatKit", dependencies: ["MiniRex"], path: "Examples/thermostat/ThermostatKit"),
    .executableTarget(
      name: "thermostat", dependencies: ["MiniRex", "ThermostatKit"],
      path: "Examples/thermostat/thermostat"),
    .executableTarget(
      name: "first-programs",
      dependencies: ["MiniRex", "MiniRexFoundationAdapters", "MiniRexNetworkingAdapters"],
      path: "Examples/first-programs"),
    .target(
      name: "TestSupport", dependencies: ["MiniRex", "MiniRexTesting"], path: "Tests/TestSupport"),
    .testTarget(name: "MiniRexTests", dependencies: ["MiniRex", "MiniRexTesting", "TestSupport"]),
    .testTarget(
      name: "MiniRexFoundationAdaptersTests",
      dependencies: [
        "MiniRexFoundationAdapters", "MiniRexNetworkingAdapters", "MiniRexTesting", "TestSupport",
      ]),
    .testTarget(
      name: "MiniRexNetworkingAdaptersTests",
      dependencies: ["MiniRexNetworkingAdapters", "MiniRexTesting", "TestSupport"]),
    .testTarget(name: "MiniRexTestingTests", dependencies: ["MiniRexTesting", "TestSupport"]),
    .testTarget(
      name: "MiniRexStoreTests", dependencies: ["MiniRexStore", "MiniRexTesting", "TestSupport"]),
    .testTarget(
      name: "MiniRexStoreTestingTests",
      dependencies: ["MiniRexStore", "MiniRexStoreTesting", "MiniRexTesting", "TestSupport"]),
    .executableTarget(
      name: "journal-keeper",
      dependencies: ["CLibrary", "MiniRex", "MiniRexJournal", "MiniRexStore"],
      path: "Tests/JournalKeeper"),
    .executableTarget(name: "minirex-journal", dependencies: ["MiniRexJournal"]),
    .testTarget(
      name: "MiniRexJournalTests",
      dependencies: [
        "MiniRexJournal", "MiniRexTesting", "TestSupport", "journal-keeper", "minirex-journal",
      ]),
    .testTarget(
      name: "MiniRexInspectorTests",
      dependencies: ["MiniRexInspector", "MiniRexPageServer", "MiniRexStore", "TestSupport"]),
    .testTarget(
      name: "SoakTests",
      dependencies: [
        "MiniRexFoundationAdapters", "MiniRexNetworkingAdapters", "MiniRexTesting", "TestSupport",
      ]),
    .testTarget(name: "PackagingTests", dependencies: ["MiniRexNATS", "TestSupport"]),
    .testTarget(
      name: "SampleTests",
      dependencies: [
        "MiniRex", "MiniRexFoundationAdapters", "MiniRexNetworkingAdapters", "MiniRexTesting",
        "MiniRexStore", "MiniRexStoreTesting", "TestSupport",
      ]),
    .testTarget(name: "MinirexTailTests", dependencies: ["minirex-tail", "TestSupport"]),
    .executableTarget(
      name: "request-parsing", dependencies: ["MiniRexPageServer"], path: "Tests/RequestParsing"),
    .testTarget(
      name: "PageServerTests",
      dependencies: ["MiniRex", "MiniRexPageServer", "TestSupport", "request-parsing"]),
    .testTarget(name: "LiveBoardTests", dependencies: ["live-board", "TestSupport"]),
    .testTarget(
      name: "IssueBoardTests",
      dependencies: [
        "issue-board", "MiniRex", "MiniRexJournal", "MiniRexPageServer", "MiniRexStore",
        "MiniRexStoreTesting", "TestSupport",
      ]),
    .testTarget(
      name: "FirstProgramsTests",
      dependencies: [
        "first-programs", "MiniRex", "MiniRexFoundationAdapters", "MiniRexNetworkingAdapters",
        "MiniRexTesting", "TestSupport",
      ]),
    .testTarget(
      name: "SpreadsheetTests",
      dependencies: ["spreadsheet", "MiniRex", "MiniRexTesting", "TestSupport"]),
    .testTarget(name: "ThermostatTests", dependencies: ["ThermostatKit", "MiniRexTesting"]),
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
  // Not in the target that imports CNATS, whose declarations are all unsafe.
  if target.name != "MiniRexNATS" {
    target.swiftSettings?.append(.strictMemorySafety())
  }
}
