// swift-tools-version: 6.2
import Foundation
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let hasJemalloc = FileManager.default.fileExists(atPath: "/usr/include/jemalloc/jemalloc.h")

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")

let tracing = Target.Dependency.product(name: "Tracing", package: "swift-distributed-tracing")

let package = Package(
    name: "newswire",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .executable(name: "newswire", targets: ["newswire"]),
        // The hub's wire contract as values, for any server-side Swift that talks to a notification hub.
        .library(name: "NotificationHub", targets: ["NotificationHub"]),
        // For apps: keeps the reader's choices and the device's registration.
        .library(name: "BreakingNews", targets: ["BreakingNews"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        // Without its traits it needs neither swift-configuration nor what that brings along.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        // Parts of Hummingbird's own interface.
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.0.0"),
    ],
    targets: [
        .systemLibrary(name: "CRdkafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"])]),
        // glibc's converters for the encodings of old feeds.
        .systemLibrary(name: "CIconv"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        // simdjson, because decoding is on the hot path: Foundation's decoder alone costs more than a whole event may.
        .target(name: "CSimdjson", linkerSettings: [.linkedLibrary("simdjson")]),
        // Bytes and text: base64, percent-encoding, XML and JSON escapes, dates, ASCII case; and the seeded generator.
        // Its declarations are public: the compiler inlines package ones into other modules only where they are generic.
        .target(name: "ByteText", swiftSettings: strict),
        .target(name: "NotificationHub", dependencies: ["ByteText", crypto], swiftSettings: strict),
        .target(
            name: "NewsModel", dependencies: ["ByteText", "CSimdjson", "NotificationHub"], swiftSettings: strict),
        .target(
            name: "KafkaModel", dependencies: ["ByteText", "NewsModel", "NotificationHub"], swiftSettings: strict),
        // What editors order, and the events that wait for their time.
        .target(
            name: "EditorialControl", dependencies: ["ByteText", "KafkaModel", "NewsModel", "NotificationHub"],
            swiftSettings: strict),
        .target(
            name: "PublishEngine",
            dependencies: [
                "ByteText", "EditorialControl", "KafkaModel", "NewsModel", "NotificationHub", crypto, deque, heap,
                .product(name: "Mustache", package: "swift-mustache"),
            ], swiftSettings: strict),
        // What is asked about accepted sends, and what the answers say.
        .target(
            name: "HubTelemetry", dependencies: ["ByteText", "KafkaModel", "NewsModel", "NotificationHub"],
            swiftSettings: strict),
        .target(
            name: "KafkaIO", dependencies: ["ByteText", "CRdkafka", "KafkaModel", "NewsModel"], swiftSettings: strict),
        .target(
            name: "Feeds", dependencies: ["ByteText", "CIconv", "NewsModel", crypto], swiftSettings: strict),
        .target(
            name: "FeedIO",
            dependencies: [
                "ByteText", "CZlib", "ControlIO", "EditorialControl", "Feeds", "HTTPServing", "KafkaIO", "KafkaModel",
                "NewsModel", "ServerIdentity", crypto, logging,
                nioCore, nioHTTP1, nioPosix, nioSSL, .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], swiftSettings: strict),
        // The control, audit and held topics.
        .target(
            name: "ControlIO",
            dependencies: ["ByteText", "EditorialControl", "KafkaIO", "KafkaModel", "NewsModel"], swiftSettings: strict),
        // TLS to a host by its name.
        .target(
            name: "ServerIdentity", dependencies: ["ByteText", nioCore, nioSSL], swiftSettings: strict),
        .target(
            name: "HubIO",
            dependencies: [
                "ByteText", "NewsModel", "NotificationHub", "ServerIdentity", deque, nioCore, nioPosix, nioSSL,
                .product(name: "NIOTLS", package: "swift-nio"),
            ], swiftSettings: strict),
        .target(
            name: "PublisherService",
            dependencies: [
                "ByteText", "ControlIO", "EditorialControl", "HubIO", "KafkaIO", "KafkaModel", "NewsModel",
                "NotificationHub", "PublishEngine", deque,
                logging, nioCore, nioPosix, nioSSL, tracing,
            ], swiftSettings: strict),
        // Asks the hub what became of accepted sends.
        .target(
            name: "TelemetryIO",
            dependencies: [
                "HubIO", "HubTelemetry", "KafkaIO", "KafkaModel", "NewsModel", "NotificationHub", "PublisherService",
                logging, nioCore, nioPosix, nioSSL,
            ], swiftSettings: strict),
        // Spans to an OpenTelemetry collector.
        .target(name: "OTLPTracing", dependencies: ["ByteText", "NewsModel", tracing], swiftSettings: strict),
        .target(
            name: "HubEmulator", dependencies: ["ByteText", "NotificationHub", deque], swiftSettings: strict),
        // What both servers share: starting and stopping, and who is on this machine.
        .target(
            name: "HTTPServing",
            dependencies: [
                logging, nioCore, nioHTTP1, nioSSL, .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdHTTP2", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], swiftSettings: strict),
        .target(
            name: "HubServer",
            dependencies: [
                "ByteText", "HTTPServing", "HubEmulator", "NotificationHub", crypto, nioCore, nioHTTP1, nioPosix,
                nioSSL,
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ], resources: [.embedInCode("Page")], swiftSettings: strict),
        .target(
            name: "Simulation",
            dependencies: [
                "ByteText", "EditorialControl", "Feeds", "KafkaModel", "NewsModel", "NotificationHub", "PublishEngine",
                heap,
            ],
            swiftSettings: strict),
        .target(name: "BreakingNews", dependencies: ["NotificationHub"], swiftSettings: strict),
        .target(
            name: "StatusServer",
            dependencies: [
                "ByteText", "ControlIO", "EditorialControl", "Feeds", "HTTPServing", "HubTelemetry", "KafkaIO",
                "KafkaModel", "NewsModel", "NotificationHub", "OTLPTracing", "PublishEngine", "PublisherService",
                logging, nioCore,
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], resources: [.embedInCode("Page")], swiftSettings: strict),
        .target(
            name: "NewswireSettings",
            dependencies: [
                "ByteText", "ControlIO", "EditorialControl", "FeedIO", "Feeds", "HubIO", "HubTelemetry", "KafkaIO",
                "KafkaModel", "NewsModel", "NotificationHub", "OTLPTracing", "PublishEngine", "PublisherService",
                "StatusServer", "Yams", logging,
            ], swiftSettings: strict),
        // The commands as a library, so that tests can use them.
        .target(
            name: "NewswireCommands",
            dependencies: [
                "BreakingNews", "ByteText", "CZlib", "CZstd", "ControlIO", "EditorialControl", "FeedIO", "Feeds",
                "HTTPServing", "HubIO", "HubServer", "HubTelemetry", "KafkaIO", "KafkaModel", "NewsModel",
                "NewswireSettings", "NotificationHub", "OTLPTracing", "PublishEngine",
                "PublisherService", "ServerIdentity", "Simulation", "StatusServer", "TelemetryIO",
                .product(name: "ArgumentParser", package: "swift-argument-parser"), logging, nioCore, nioHTTP1,
                nioPosix, nioSSL,
            ], swiftSettings: strict),
        .executableTarget(
            name: "newswire",
            dependencies: [
                "CAllocator", "NewswireCommands", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: strict),
        // jemalloc: memory for an event is asked for on one thread and given back on another, for which glibc's
        // allocator takes a lock; an event costs an eighth less. Where it is not installed, the program does without.
        .target(name: "CAllocator", linkerSettings: hasJemalloc ? [.linkedLibrary("jemalloc")] : []),
        // Counts what the benchmark asks memory for.
        .target(name: "CAllocations"),
        .executableTarget(
            name: "benchmark",
            dependencies: [
                "CAllocations", "Feeds", "HubEmulator", "HubIO", "HubServer", "KafkaIO", "KafkaModel", "NewsModel",
                "NotificationHub",
                "PublishEngine",
                "PublisherService", .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Histogram", package: "hdrhistogram-swift"), nioCore, nioPosix, nioSSL,
            ], path: "Sources/Benchmark", swiftSettings: strict),
        // An example: the back end of the tutorial "notify users". It uses only what other packages can use too.
        .target(
            name: "NotifyUsers",
            dependencies: [
                "BreakingNews", "NotificationHub", nioCore, .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ], path: "deploy/notify-users/BackEnd", swiftSettings: strict),
        .executableTarget(
            name: "notify-users",
            dependencies: ["NotificationHub", "NotifyUsers", .product(name: "Hummingbird", package: "hummingbird")],
            path: "deploy/notify-users/Program", swiftSettings: strict),
        // What tests of several modules use: Python, a browser, requests written by hand.
        .target(
            name: "TestSupport",
            dependencies: [
                "HubEmulator", "HubIO", "HubServer", "KafkaIO", "KafkaModel", "NewsModel", "NotificationHub",
                "PublishEngine", "PublisherService", logging, nioCore, nioPosix, nioSSL, tracing,
            ], path: "Tests/TestSupport", exclude: ["browser.py", "looks.py"], swiftSettings: strict),
        // The code in the articles of the library products.
        .testTarget(
            name: "ArticleTests", dependencies: ["BreakingNews", "HubServer", "NotificationHub", "TestSupport"],
            swiftSettings: strict),
        .testTarget(name: "ByteTextTests", dependencies: ["ByteText"], swiftSettings: strict),
        .testTarget(
            name: "NewsModelTests", dependencies: ["ByteText", "NewsModel", "NotificationHub", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "KafkaModelTests", dependencies: ["ByteText", "KafkaModel", "NewsModel", "NotificationHub"],
            swiftSettings: strict),
        .testTarget(
            name: "NotificationHubTests", dependencies: ["ByteText", "NotificationHub"],
            swiftSettings: strict),
        .testTarget(
            name: "PublishEngineTests",
            dependencies: [
                "ByteText", "EditorialControl", "KafkaModel", "NewsModel", "NotificationHub", "PublishEngine",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "EditorialControlTests",
            dependencies: [
                "ByteText", "EditorialControl", "KafkaModel", "NewsModel", "NotificationHub", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HubTelemetryTests",
            dependencies: [
                "ByteText", "HubEmulator", "HubTelemetry", "KafkaModel", "NewsModel", "NotificationHub", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ControlIOTests",
            dependencies: [
                "ByteText", "ControlIO", "EditorialControl", "KafkaIO", "KafkaModel", "NewsModel", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "KafkaIOTests", dependencies: ["ByteText", "KafkaIO", "KafkaModel", "NewsModel"],
            swiftSettings: strict),
        .testTarget(
            name: "FeedsTests", dependencies: ["ByteText", "Feeds", "NewsModel", crypto], swiftSettings: strict),
        // Corpora of real feeds, and what other readers make of them.
        .testTarget(
            name: "FeedOracleTests", dependencies: ["ByteText", "Feeds", "NewsModel", "TestSupport"],
            exclude: ["dates_oracle.py", "feedparser_oracle.py", "newsmlg2_oracle.py"], swiftSettings: strict),
        .testTarget(
            name: "FeedIOTests",
            dependencies: [
                "ByteText", "CZlib", "ControlIO", "EditorialControl", "FeedIO", "Feeds", "HTTPServing", "KafkaIO",
                "KafkaModel", "NewsModel", "TestSupport", crypto, logging, nioCore, nioHTTP1, nioPosix, nioSSL,
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ], swiftSettings: strict),
        .testTarget(
            name: "NotifyUsersTests",
            dependencies: [
                "BreakingNews", "HubEmulator", "HubServer", "NotificationHub", "NotifyUsers", "TestSupport", nioCore,
                .product(name: "Hummingbird", package: "hummingbird"),
            ], swiftSettings: strict),
        .testTarget(name: "ServerIdentityTests", dependencies: ["ServerIdentity"], swiftSettings: strict),
        .testTarget(
            name: "HubIOTests",
            dependencies: [
                "ByteText", "HubIO", "NewsModel", "NotificationHub", "TestSupport", nioCore, nioPosix, nioSSL,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PublisherServiceTests",
            dependencies: [
                "ControlIO", "EditorialControl", "HubEmulator", "HubIO", "HubServer", "KafkaIO", "KafkaModel",
                "NewsModel", "NotificationHub", "PublishEngine", "PublisherService", "TestSupport", logging,
            ], swiftSettings: strict),
        .testTarget(
            name: "OTLPTracingTests",
            dependencies: [
                "TestSupport",
                "HubEmulator", "HubIO", "HubServer", "KafkaIO", "KafkaModel", "NewsModel", "NotificationHub",
                "OTLPTracing",
                "PublishEngine", "PublisherService", logging, nioCore, nioPosix, tracing,
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HubEmulatorTests", dependencies: ["ByteText", "HubEmulator", "NotificationHub", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "BreakingNewsTests",
            dependencies: ["BreakingNews", "ByteText", "HubEmulator", "HubServer", "NotificationHub"],
            swiftSettings: strict),
        .testTarget(
            name: "HubServerTests",
            dependencies: [
                "HTTPServing", "HubEmulator", "HubServer", "NotificationHub", "TestSupport", nioCore, nioPosix, nioSSL,
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["HTTP2Calls.java", "http2_calls.py", "http2_rude.py"], swiftSettings: strict),
        .testTarget(
            name: "HTTPServingTests",
            dependencies: [
                "HTTPServing", "TestSupport", nioCore, nioPosix,
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ], swiftSettings: strict),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "EditorialControl", "Feeds", "KafkaModel", "NewsModel", "NotificationHub", "PublishEngine",
                "Simulation",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "StatusServerTests",
            dependencies: [
                "ByteText", "ControlIO", "EditorialControl", "Feeds", "HTTPServing", "HubEmulator", "HubIO",
                "HubServer", "HubTelemetry",
                "KafkaIO", "KafkaModel", "NewsModel", "NotificationHub", "PublishEngine", "PublisherService",
                "StatusServer",
                "TestSupport", logging, nioCore, nioPosix,
            ], exclude: ["dashboard.py", "reports.py", "scripted.py"], swiftSettings: strict),
        .testTarget(
            name: "NewswireSettingsTests",
            dependencies: [
                "ControlIO", "EditorialControl", "Feeds", "HubIO", "HubTelemetry", "KafkaIO", "KafkaModel", "NewsModel",
                "NewswireSettings", "NotificationHub", "PublishEngine", "PublisherService", "TestSupport", logging,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "NewswireTests",
            dependencies: [
                "newswire", "CZlib", "CZstd", "ControlIO", "EditorialControl", "Feeds", "HubEmulator", "HubServer",
                "HubTelemetry", "KafkaIO", "KafkaModel", "NewsModel",
                "NewswireCommands", "NewswireSettings", "NotificationHub", "PublishEngine", "PublisherService",
                "TestSupport", logging, nioCore, nioPosix,
            ], exclude: ["page.py"], swiftSettings: strict),
        .testTarget(name: "ArchitectureTests", swiftSettings: strict),
        // A broker for tests in a process of its own.
        .executableTarget(
            name: "mockbroker", dependencies: ["KafkaIO"], path: "Tests/MockBroker", swiftSettings: strict),
        .testTarget(
            name: "FireTests",
            dependencies: [
                "newswire", "mockbroker", "ByteText", "HubEmulator", "HubServer", "KafkaIO", "KafkaModel", "NewsModel",
                "NotificationHub", "TestSupport",
            ], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
