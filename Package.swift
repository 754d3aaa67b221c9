// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "MiniRex",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .executable(name: "minirex-journal", targets: ["minirex-journal"]),
    .executable(name: "minirex-tail", targets: ["minirex-tail"]),
    .library(name: "MiniRex", targets: ["MiniRex"]),
    .library(name: "MiniRexDispatchAdapters", targets: ["MiniRexDispatchAdapters"]),
    .library(name: "MiniRexEssentialsAdapters", targets: ["MiniRexEssentialsAdapters"]),
    .library(name: "MiniRexFleet", targets: ["MiniRexFleet"]),
    .library(name: "MiniRexFoundationAdapters", targets: ["MiniRexFoundationAdapters"]),
    .library(name: "MiniRexInspector", targets: ["MiniRexInspector"]),
    .library(name: "MiniRexJournal", targets: ["MiniRexJournal"]),
    .library(name: "MiniRexNATS", targets: ["MiniRexNATS"]),
    .library(name: "MiniRexNATSStore", targets: ["MiniRexNATSStore"]),
    .library(name: "MiniRexNetworkingAdapters", targets: ["MiniRexNetworkingAdapters"]),
    .library(name: "MiniRexReplica", targets: ["MiniRexReplica"]),
    .library(name: "MiniRexStore", targets: ["MiniRexStore"]),
    .library(name: "MiniRexStoreTesting", targets: ["MiniRexStoreTesting"]),
    .library(name: "MiniRexTesting", targets: ["MiniRexTesting"]),
    // For the package in Examples only.
    .library(name: "_PageServer", targets: ["MiniRexPageServer"]),
    .library(name: "_TestSupport", targets: ["TestSupport"]),
  ],
  traits: [
    .trait(
      name: "NATS",
      description:
        "Builds the NATS bridge and MiniRexFleet. Requires libnats (Debian: libnats-dev).")
  ],
  targets: [
    // Each source of the NATS bridge is inside `#if NATS`, because a trait cannot exclude a target.
    .systemLibrary(
      name: "CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"]), .brew(["cnats"])]),
    .target(name: "CLibrary"),
    .target(name: "MiniRex"),
    .target(name: "MiniRexDispatchAdapters", dependencies: ["CLibrary", "MiniRex"]),
    .target(
      name: "MiniRexEssentialsAdapters",
      dependencies: ["CLibrary", "MiniRex", "MiniRexDispatchAdapters"]),
    .target(
      name: "MiniRexFleet",
      dependencies: [
        "MiniRex", "MiniRexDispatchAdapters", "MiniRexInspector", "MiniRexNATS",
        "MiniRexPageServer", "MiniRexReplica", "MiniRexStore",
      ],
      resources: [.embedInCode("Page")]),
    .target(
      name: "MiniRexFoundationAdapters",
      dependencies: ["MiniRex", "MiniRexDispatchAdapters", "MiniRexEssentialsAdapters"]),
    .target(
      name: "MiniRexInspector",
      dependencies: ["MiniRex", "MiniRexFoundationAdapters", "MiniRexPageServer", "MiniRexStore"],
      resources: [.embedInCode("Page")]),
    .target(name: "MiniRexJournal", dependencies: ["CLibrary", "MiniRex", "MiniRexStore"]),
    .target(
      name: "MiniRexNATS",
      dependencies: ["MiniRex", .target(name: "CNATS", condition: .when(traits: ["NATS"]))]),
    .target(
      name: "MiniRexNATSStore",
      dependencies: ["MiniRex", "MiniRexJournal", "MiniRexNATS", "MiniRexReplica", "MiniRexStore"]),
    .target(
      name: "MiniRexNetworkingAdapters",
      dependencies: ["MiniRex", "MiniRexEssentialsAdapters", "MiniRexFoundationAdapters"]),
    .target(name: "MiniRexPageServer", dependencies: ["MiniRex"]),
    .target(
      name: "MiniRexReplica",
      dependencies: ["CLibrary", "MiniRex", "MiniRexJournal", "MiniRexStore"]),
    .target(name: "MiniRexStore", dependencies: ["MiniRex"]),
    .target(name: "MiniRexStoreTesting", dependencies: ["MiniRex", "MiniRexStore"]),
    .target(name: "MiniRexTesting", dependencies: ["MiniRex"]),
    .target(
      name: "TestSupport", dependencies: ["MiniRex", "MiniRexTesting"], path: "Tests/TestSupport"),

    .executableTarget(name: "minirex-journal", dependencies: ["MiniRexJournal"]),
    program("minirex-tail", "Examples/minirex-tail", "MiniRexFoundationAdapters"),

    // Programs that the tests start.
    program("fleet", "Examples/fleet", "MiniRexFleet", "MiniRexNATSStore"),
    program("fleet-board", "Examples/fleet-board", "MiniRexFleet"),
    program("journal-keeper", "Tests/JournalKeeper", "MiniRexJournal"),
    program("nats-guest", "Tests/NATSGuest", "MiniRexFleet", "MiniRexNATSStore"),
    program("request-parsing", "Tests/RequestParsing", "MiniRexPageServer"),
    program("weather", "Examples/weather", "MiniRexNATS"),

    tests("MiniRexFoundationAdaptersTests", "MiniRexNetworkingAdapters"),
    tests("MiniRexInspectorTests", "MiniRexInspector"),
    tests(
      "MiniRexJournalTests", "MiniRexFoundationAdapters", "journal-keeper", "minirex-journal"),
    tests(
      "MiniRexNATSTests", "MiniRexFleet", "MiniRexNATSStore", "fleet", "fleet-board", "nats-guest",
      "weather"),
    tests("MiniRexNetworkingAdaptersTests", "MiniRexNetworkingAdapters"),
    tests("MiniRexReplicaTests", "MiniRexReplica"),
    tests("MiniRexStoreTestingTests", "MiniRexStoreTesting"),
    tests("MiniRexStoreTests", "MiniRexStore"),
    tests("MiniRexTestingTests"),
    tests("MiniRexTests"),
    tests("MinirexTailTests", "minirex-tail"),
    tests("PackagingTests", "MiniRexNATS"),
    tests("PageServerTests", "request-parsing"),
    tests("SampleTests", "MiniRexNetworkingAdapters", "MiniRexStoreTesting"),
    tests("SoakTests", "MiniRexNetworkingAdapters"),
  ],
  swiftLanguageModes: [.v6]
)

func program(_ name: String, _ path: String, _ dependencies: Target.Dependency...) -> Target {
  .executableTarget(name: name, dependencies: dependencies, path: path)
}

func tests(_ name: String, _ dependencies: Target.Dependency...) -> Target {
  .testTarget(name: name, dependencies: dependencies + ["TestSupport"])
}

for target in package.targets where target.type != .system {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  ]
  // All declarations of CNATS are unsafe.
  if target.name != "MiniRexNATS" { target.swiftSettings?.append(.strictMemorySafety()) }
}
