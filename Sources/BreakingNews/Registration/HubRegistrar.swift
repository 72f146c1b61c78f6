import NotificationHub

/// Keeps a device's registration at a hub in line with the reader's choices.
///
/// The choices are stored first and registered as soon as possible. A failed registration is retried until it succeeds,
/// across restarts too. At each start, and after each change, the device registers again unless nothing has changed
/// since a recent registration.
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
    private var reported: RegistrationState?
    private var settling: Task<Void, Never>?
    private var pause: Task<Void, Never>?

    private static let name = "registration"

    /// - Parameter onChange: called with each new state, in order; it must return quickly.
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

    /// Sets the wanted subscription; `run` or `settle` registers it.
    /// - Parameter subscription: `nil`, or one without tags, to remove the registration. An interrupted removal
    ///   continues at the next start.
    public func want(_ subscription: Subscription?) {
        plan.want(subscription)
        save()
        pause?.cancel()
    }

    /// Registers again although nothing changed. Use it when the hub may have lost the registration.
    public func refresh() {
        plan.refresh()
        pause?.cancel()
    }

    /// Keeps the registration up to date until the task is cancelled: retries after failures and refreshes when due.
    public func run() async {
        while !Task.isCancelled {
            await settle()
            // The wanted subscription may have changed, so the plan is asked again, without a suspension in between.
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

    /// The longest sleep in seconds. It is limited because the wall clock may be changed during the sleep.
    private static let pauseMax: Int64 = 3600

    /// Makes the calls that are due now. Returns when the registration is up to date or the next call has to wait.
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
                // The task was cancelled; the stored record says that the outcome is unknown.
                if Task.isCancelled { break }
                answer = .unreachable("\(error)")
            }
            if case .renew = plan.handle(answer, to: call, at: clock.now, using: &random) { token.discard() }
            keep()
        }
        keep()
    }

    private func save() {
        guard saved != plan.record else { return }
        // If saving fails, this process continues with its state in memory. The next start registers again.
        do {
            try store.save(value: plan.record, named: Self.name)
            saved = plan.record
        } catch {}
    }

    private func keep() {
        save()
        let state = plan.state
        guard state != reported else { return }
        reported = state
        onChange(state)
    }
}
