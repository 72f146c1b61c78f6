import NotificationHub

/// Keeps a device's registration at a hub the way the reader wants it.
///
/// The choices are kept first and registered as soon as that is possible: a registration that failed is tried again
/// until it succeeds, across restarts too. At a start, and on each change, it registers again unless nothing changed
/// and the last time is recent.
///
/// ```swift
/// let registrar = HubRegistrar(settings, store: store)
/// await registrar.want(Subscription(channel: channel, categories: categories.chosen))
/// await registrar.run()
/// ```
public actor HubRegistrar {
    private var plan: RegistrationPlan
    private var token: AccessToken
    private let store: any LocalStore
    private let transport: any HubTransport
    private let clock: any RegistrationClock
    private let onChange: @Sendable (RegistrationState) -> Void
    private var saved: RegistrationRecord?
    private var told: RegistrationState?
    private var settling: Task<Void, Never>?
    private var pause: Task<Void, Never>?

    private static let name = "registration"

    /// - Parameter onChange: called with each new state, in order; not for long.
    public init(
        _ settings: RegistrationSettings, store: any LocalStore, transport: any HubTransport = SessionTransport(),
        clock: any RegistrationClock = SystemClock(),
        onChange: @escaping @Sendable (RegistrationState) -> Void = { _ in }
    ) {
        saved = store.value(RegistrationRecord.self, named: Self.name)
        plan = RegistrationPlan(settings, record: saved, newInstallation: clock.newID())
        token = AccessToken(settings.connection)
        self.store = store
        self.transport = transport
        self.clock = clock
        self.onChange = onChange
    }

    public var state: RegistrationState { plan.state }

    /// Says what is wanted from now on; `run` or `settle` makes it true.
    /// - Parameter subscription: `nil`, or one without tags, for not being registered at all.
    public func want(_ subscription: Subscription?) {
        plan.want(subscription)
        pause?.cancel()
    }

    /// Registers again, although nothing changed: for when there is reason to think that the hub has lost it.
    public func refresh() {
        plan.refresh()
        pause?.cancel()
    }

    /// Makes it true as long as the task lives, trying again after failures and refreshing when due.
    public func run() async {
        while !Task.isCancelled {
            await settle()
            // Something may have been wanted since: ask again, without a pause in between for anything to slip in.
            let now = clock.now
            guard !Task.isCancelled, case .wait(let instant) = plan.next(at: now) else { continue }
            let seconds = max(1, min(instant.map { $0 - now } ?? Self.pauseMax, Self.pauseMax))
            let pause = Task { [clock] in await clock.sleep(seconds: seconds) }
            self.pause = pause
            await withTaskCancellationHandler {
                await pause.value
            } onCancel: {
                pause.cancel()
            }
            self.pause = nil
        }
    }

    /// Looks at the wall clock at least this often, as it may be changed; in seconds.
    private static let pauseMax: Int64 = 3600

    /// Makes the calls that are due now. Returns when it is true, or when it has to wait.
    @discardableResult
    public func settle() async -> RegistrationState {
        let work: Task<Void, Never>
        if let settling {
            work = settling
        } else {
            work = Task { await self.makeCalls() }
            settling = work
        }
        await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        return plan.state
    }

    private func makeCalls() async {
        defer { settling = nil }
        var random = SystemRandomNumberGenerator()
        while !Task.isCancelled, case .call(let call) = plan.next(at: clock.now) {
            keep()
            var request = call.request
            request.fields.append(HeaderField("Authorization", token.headerValue(at: clock.now)))
            let answer: RegistrationPlan.Answer
            do { answer = .response(try await transport.send(request)) } catch {
                // Nobody waits any more; what is kept says that the outcome is not known.
                if Task.isCancelled { break }
                answer = .unreachable("\(error)")
            }
            if case .renew = plan.handle(answer, to: call, at: clock.now, using: &random) { token.discard() }
            keep()
        }
        keep()
    }

    private func keep() {
        if saved != plan.record {
            // If it cannot be saved, this process goes on with what it knows, and the next start registers once more.
            do {
                try store.save(value: plan.record, named: Self.name)
                saved = plan.record
            } catch {}
        }
        let state = plan.state
        guard state != told else { return }
        told = state
        onChange(state)
    }
}
