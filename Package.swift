// swift-tools-version: 6.2
import Foundation
import PackageDescription

let hasJemalloc = FileManager.default.fileExists(atPath: "/usr/include/jemalloc/jemalloc.h")

/// The commit of the build. A build without the repository's history, e.g. of an image, gets it from the environment.
let commit = String((Context.environment["NEWSWIRE_COMMIT"] ?? Context.gitInformation?.currentCommit ?? "").prefix(12))

let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
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
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        // Only for tests, which compare our HTTP/2 codec with it.
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        // Without its traits it does not depend on swift-configuration.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        // Types of these packages appear in Hummingbird's interface.
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.0.0"),
    ],
    targets: [
        .systemLibrary(name: "CRdkafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"])]),
        // glibc's converters for the encodings of old feeds.
        .systemLibrary(name: "CIconv"),
        // PCRE2, because the work of Swift's regular expressions cannot be bounded.
        .systemLibrary(name: "CPcre2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        // simdjson, because decoding is on the hot path: Foundation's decoder alone costs more than a whole event may.
        .target(name: "CSimdjson", linkerSettings: [.linkedLibrary("simdjson")]),
        // Its declarations are public, because the compiler inlines package declarations into other modules only where
        // they are generic.
        .target(name: "ByteText"),
        .target(name: "NotificationHub", dependencies: ["ByteText", crypto]),
        .target(name: "NewsModel", dependencies: ["ByteText", "CSimdjson", "NotificationHub", heap]),
        .target(name: "KafkaModel", dependencies: ["ByteText", "NewsModel", "NotificationHub"]),
        // Editors' orders, and the events that wait for their time on the held topic.
        .target(
            name: "EditorialControl",
            dependencies: ["ByteText", "KafkaModel", "NewsModel", "NotificationHub", crypto]),
        .target(
            name: "PublishEngine",
            dependencies: [
                "ByteText", "EditorialControl", "KafkaModel", "NewsModel", "NotificationHub", deque, heap,
                .product(name: "Mustache", package: "swift-mustache"),
            ]),
        // The sender pool's decisions about connections and streams.
        .target(name: "HubModel", dependencies: ["NewsModel", "NotificationHub", deque]),
        // The questions to the hub about accepted sends, and its answers.
        .target(name: "HubTelemetry", dependencies: ["ByteText", "KafkaModel", "NewsModel", "NotificationHub"]),
        // Single requests to web services.
        .target(
            name: "HTTPCalls", dependencies: [asyncHTTPClient, nioCore, nioHTTP1, nioPosix, nioSSL]),
        .target(
            name: "KafkaIO", dependencies: ["ByteText", "CRdkafka", "HTTPCalls", "KafkaModel", "NewsModel", logging]),
        .target(name: "Feeds", dependencies: ["ByteText", "CIconv", "CPcre2", "NewsModel", crypto]),
        .target(
            name: "FeedIO",
            dependencies: [
                "ByteText", "CZlib", "ControlIO", "EditorialControl", "Feeds", "HTTPServing", "KafkaIO", "KafkaModel",
                "NewsModel", "ServerIdentity", crypto, httpTypes, hummingbird, logging, nioCore, nioHTTP1, nioPosix,
                nioSSL, serviceLifecycle,
            ]),
        // The control, audit and held topics.
        .target(
            name: "ControlIO", dependencies: ["ByteText", "EditorialControl", "KafkaIO", "KafkaModel", "NewsModel"]),
        // The schemas of Avro records.
        .target(
            name: "SchemaRegistry",
            dependencies: ["ByteText", "HTTPCalls", "NewsModel", nioPosix]),
        // TLS to a host that is verified by its name.
        .target(name: "ServerIdentity", dependencies: ["ByteText", nioCore, nioSSL]),
        .target(
            name: "HubIO",
            dependencies: [
                "ByteText", "HubModel", "NewsModel", "NotificationHub", "ServerIdentity", nioCore, nioPosix, nioSSL,
                .product(name: "NIOTLS", package: "swift-nio"),
            ]),
        .target(
            name: "PublisherService",
            dependencies: [
                "ByteText", "ControlIO", "EditorialControl", "HubIO", "HubModel", "KafkaIO", "KafkaModel", "NewsModel",
                "NotificationHub", "PublishEngine", "SchemaRegistry", deque, logging, nioCore, nioPosix, tracing,
            ]),
        // Polls the hub about accepted sends.
        .target(
            name: "TelemetryIO",
            dependencies: [
                "HubIO", "HubModel", "HubTelemetry", "KafkaIO", "KafkaModel", "NewsModel", "NotificationHub", logging,
                nioCore, nioPosix,
            ]),
        // Spans to an OpenTelemetry collector.
        .target(name: "OTLPTracing", dependencies: ["ByteText", "HTTPCalls", "NewsModel", tracing]),
        .target(name: "HubEmulator", dependencies: ["ByteText", "NotificationHub", deque]),
        // Shared by all HTTP servers: start, stop, limits, and the distinction between local and other callers.
        .target(
            name: "HTTPServing",
            dependencies: [
                httpTypes, hummingbird, logging, nioCore, nioHTTP1, nioSSL, serviceLifecycle,
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdHTTP2", package: "hummingbird"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
            ]),
        .target(
            name: "HubServer",
            dependencies: [
                "ByteText", "HTTPServing", "HubEmulator", "NotificationHub", crypto, grdb, httpTypes, hummingbird,
                nioCore, nioPosix, nioSSL, serviceLifecycle,
            ], resources: [.embedInCode("Page")]),
        .target(
            name: "Simulation",
            dependencies: [
                "ByteText", "EditorialControl", "Feeds", "HubModel", "KafkaModel", "NewsModel", "NotificationHub",
                "PublishEngine",
            ]),
        // Files of events, runs, dry runs and redrive.
        .target(
            name: "Backfill",
            dependencies: [
                "ByteText", "EditorialControl", "Feeds", "KafkaModel", "NewsModel", "NotificationHub", "PublishEngine",
                deque,
            ]),
        .target(name: "BreakingNews", dependencies: ["ByteText", "NotificationHub"]),
        .target(
            name: "StatusServer",
            dependencies: [
                "ByteText", "ControlIO", "EditorialControl", "Feeds", "HTTPServing", "HubTelemetry", "KafkaIO",
                "KafkaModel", "NewsModel", "NotificationHub", "OTLPTracing", "PublishEngine", "PublisherService",
                httpTypes, hummingbird, logging, nioCore, serviceLifecycle,
            ], resources: [.embedInCode("Page")]),
        .target(
            name: "NewswireSettings",
            dependencies: [
                "Backfill", "ByteText", "ControlIO", "EditorialControl", "Feeds", "HubIO", "HubModel", "HubTelemetry",
                "KafkaIO", "KafkaModel", "NewsModel", "NotificationHub", "OTLPTracing", "PublishEngine",
                "PublisherService", "SchemaRegistry", "StatusServer", "Yams", logging,
            ]),
        // The commands as a library, so that tests can use them.
        .target(
            name: "NewswireCommands",
            dependencies: [
                "Backfill", "BreakingNews", "ByteText", "CZlib", "CZstd", "ControlIO", "EditorialControl", "FeedIO",
                "Feeds", "HTTPServing", "HubEmulator", "HubIO", "HubModel", "HubServer", "HubTelemetry", "KafkaIO",
                "KafkaModel", "NewsModel", "NewswireSettings", "NotificationHub", "OTLPTracing", "PublishEngine",
                "PublisherService", "SchemaRegistry", "ServerIdentity", "Simulation", "StatusServer", "TelemetryIO",
                argumentParser, logging, nioCore, nioHTTP1, nioPosix, nioSSL,
            ]),
        .executableTarget(
            name: "newswire", dependencies: ["CAllocator", "CBuild", "NewswireCommands", argumentParser]),
        // jemalloc: an event's memory is allocated on one thread and freed on another, for which glibc's allocator takes
        // a lock. An event costs an eighth less with jemalloc. The program also works without it.
        .target(name: "CAllocator", linkerSettings: hasJemalloc ? [.linkedLibrary("jemalloc")] : []),
        // The commit, for `newswire --version`. Only this target is built again when it changes.
        .target(name: "CBuild", cSettings: [.define("NEWSWIRE_COMMIT", to: "\"\(commit)\"")]),
        // Counts the allocations of the benchmark.
        .target(name: "CAllocations"),
        .executableTarget(
            name: "benchmark",
            dependencies: [
                "CAllocations", "Feeds", "HubEmulator", "HubIO", "HubServer", "KafkaIO", "KafkaModel", "NewsModel",
                "NotificationHub", "PublishEngine", "PublisherService", argumentParser, nioCore, nioPosix, nioSSL,
                .product(name: "Histogram", package: "hdrhistogram-swift"),
            ], path: "Sources/Benchmark"),
        // An example: the back end of the tutorial "notify users". It uses only products that other packages can use too.
        .target(
            name: "NotifyUsers", dependencies: ["BreakingNews", "NotificationHub", httpTypes, hummingbird, nioCore],
            path: "deploy/notify-users/BackEnd"),
        .executableTarget(
            name: "notify-users", dependencies: ["NotificationHub", "NotifyUsers", hummingbird],
            path: "deploy/notify-users/Program"),
        // Shared by the tests of several modules: a newsroom, Python, a browser, hand-written requests.
        .target(
            name: "TestSupport",
            dependencies: [
                "CRdkafka", "HubEmulator", "HubIO", "HubModel", "HubServer", "KafkaIO", "KafkaModel", "NewsModel",
                "NotificationHub", "PublishEngine", "PublisherService", logging, nioCore, nioPosix, nioSSL, tracing,
            ], path: "Tests/TestSupport", exclude: ["browser.py", "looks.py"]),
        // The code in the articles of the library products.
        .testTarget(
            name: "ArticleTests", dependencies: ["BreakingNews", "HubServer", "NotificationHub", "TestSupport"]),
        .testTarget(name: "ByteTextTests", dependencies: ["ByteText"]),
        .testTarget(
            name: "NewsModelTests", dependencies: ["ByteText", "NewsModel", "NotificationHub", "TestSupport"],
            exclude: ["avro_oracle.py"]),
        .testTarget(name: "KafkaModelTests", dependencies: ["ByteText", "KafkaModel", "NewsModel", "NotificationHub"]),
        .testTarget(name: "NotificationHubTests", dependencies: ["ByteText", "NotificationHub"]),
        .testTarget(
            name: "PublishEngineTests",
            dependencies: [
                "ByteText", "EditorialControl", "KafkaModel", "NewsModel", "NotificationHub", "PublishEngine",
            ]),
        .testTarget(
            name: "EditorialControlTests",
            dependencies: [
                "ByteText", "EditorialControl", "KafkaModel", "NewsModel", "NotificationHub", "TestSupport",
            ]),
        .testTarget(
            name: "HubTelemetryTests",
            dependencies: [
                "ByteText", "HubEmulator", "HubTelemetry", "KafkaModel", "NewsModel", "NotificationHub", "TestSupport",
            ]),
        .testTarget(
            name: "ControlIOTests",
            dependencies: [
                "ControlIO", "EditorialControl", "KafkaIO", "KafkaModel", "NewsModel", "NotificationHub", "TestSupport",
            ]),
        .testTarget(
            name: "KafkaIOTests",
            dependencies: [
                "ByteText", "CRdkafka", "HTTPCalls", "KafkaIO", "KafkaModel", "NewsModel", "TestSupport",
            ]),
        .testTarget(name: "FeedsTests", dependencies: ["ByteText", "Feeds", "NewsModel", crypto]),
        // Compares corpora of real feeds with the results of other readers.
        .testTarget(
            name: "FeedOracleTests", dependencies: ["ByteText", "Feeds", "NewsModel", "TestSupport"],
            exclude: ["dates_oracle.py", "feedparser_oracle.py", "newsmlg2_oracle.py"]),
        .testTarget(
            name: "FeedIOTests",
            dependencies: [
                "ByteText", "CZlib", "FeedIO", "Feeds", "HTTPServing", "KafkaIO", "KafkaModel", "NewsModel",
                "TestSupport", crypto, httpTypes, hummingbird, logging, nioCore, nioEmbedded, nioHTTP1, nioPosix,
                nioSSL,
            ]),
        .testTarget(
            name: "NotifyUsersTests",
            dependencies: [
                "BreakingNews", "HubEmulator", "HubServer", "NotificationHub", "NotifyUsers", "TestSupport",
                hummingbird, nioCore,
            ]),
        .testTarget(name: "HubModelTests", dependencies: ["ByteText", "HubModel", "NewsModel", "NotificationHub"]),
        .testTarget(
            name: "SchemaRegistryTests",
            dependencies: [
                "KafkaIO", "NewsModel", "NotificationHub", "PublishEngine", "PublisherService", "SchemaRegistry",
                "TestSupport", nioCore, nioHTTP1, nioPosix,
            ]),
        .testTarget(name: "ServerIdentityTests", dependencies: ["ServerIdentity"]),
        .testTarget(
            name: "HubIOTests",
            dependencies: [
                "ByteText", "HubIO", "HubModel", "NotificationHub", "TestSupport", nioCore, nioPosix, nioSSL,
                .product(name: "NIOHPACK", package: "swift-nio-http2"), .product(name: "NIOTLS", package: "swift-nio"),
            ]),
        .testTarget(
            name: "PublisherServiceTests",
            dependencies: [
                "ControlIO", "EditorialControl", "HubEmulator", "HubIO", "HubModel", "HubServer", "KafkaIO",
                "KafkaModel", "NewsModel", "NotificationHub", "PublishEngine", "PublisherService", "TestSupport",
            ]),
        .testTarget(
            name: "OTLPTracingTests",
            dependencies: [
                "HubEmulator", "HubIO", "HubModel", "HubServer", "KafkaIO", "KafkaModel", "NewsModel",
                "NotificationHub", "OTLPTracing", "PublishEngine", "PublisherService", "TestSupport", logging, nioCore,
                nioHTTP1, nioPosix, tracing,
            ]),
        .testTarget(
            name: "HubEmulatorTests", dependencies: ["ByteText", "HubEmulator", "NotificationHub", "TestSupport"]),
        .testTarget(
            name: "BreakingNewsTests",
            dependencies: ["BreakingNews", "ByteText", "HubEmulator", "HubServer", "NotificationHub"]),
        .testTarget(
            name: "HubServerTests",
            dependencies: [
                "HTTPServing", "HubEmulator", "HubServer", "NotificationHub", "TestSupport", grdb, nioCore, nioPosix,
                nioSSL,
            ], exclude: ["HTTP2Calls.java", "http2_calls.py", "http2_rude.py"]),
        .testTarget(
            name: "HTTPServingTests",
            dependencies: ["HTTPServing", "TestSupport", httpTypes, hummingbird, nioCore, nioEmbedded, nioPosix]),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "EditorialControl", "Feeds", "HubModel", "KafkaModel", "NewsModel", "NotificationHub", "PublishEngine",
                "Simulation",
            ]),
        .testTarget(
            name: "StatusServerTests",
            dependencies: [
                "ByteText", "ControlIO", "EditorialControl", "Feeds", "HTTPServing", "HubEmulator", "HubServer",
                "HubTelemetry", "KafkaIO", "NewsModel", "NotificationHub", "PublishEngine", "PublisherService",
                "StatusServer", "TestSupport", logging,
            ], exclude: ["dashboard.py", "desk.py", "reports.py", "scripted.py"]),
        .testTarget(
            name: "BackfillTests",
            dependencies: [
                "Backfill", "ByteText", "Feeds", "KafkaModel", "NewsModel", "NewswireSettings", "NotificationHub",
                "PublishEngine",
            ]),
        .testTarget(
            name: "NewswireSettingsTests",
            dependencies: [
                "Backfill", "ByteText", "Feeds", "HubIO", "HubModel", "HubTelemetry", "KafkaIO", "KafkaModel",
                "NewsModel", "NewswireSettings", "NotificationHub", "PublishEngine", "PublisherService", "TestSupport",
                logging,
            ]),
        .testTarget(
            name: "NewswireTests",
            dependencies: [
                "newswire", "Backfill", "ByteText", "CZlib", "CZstd", "ControlIO", "EditorialControl", "Feeds",
                "HubEmulator", "HubServer", "HubTelemetry", "KafkaIO", "KafkaModel", "NewsModel", "NewswireCommands",
                "NewswireSettings", "NotificationHub", "PublishEngine", "PublisherService", "TestSupport", logging,
                nioCore,
                nioPosix,
            ], exclude: ["page.py"]),
        .testTarget(name: "ArchitectureTests"),
        // A broker in its own process, for tests.
        .executableTarget(name: "mockbroker", dependencies: ["KafkaIO"], path: "Tests/MockBroker"),
        .testTarget(
            name: "FireTests",
            dependencies: [
                "mockbroker", "newswire", "ByteText", "HubEmulator", "HubServer", "KafkaIO", "KafkaModel", "NewsModel",
                "NotificationHub", "TestSupport",
            ]),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

// All Swift targets, so that a new target cannot forget a setting.
for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
    // Optimizing tests takes a third of an optimized build, and they spend their time in the modules that they test.
    if target.type == .test {
        target.swiftSettings?.append(.unsafeFlags(["-Onone"], .when(configuration: .release)))
    }
}
