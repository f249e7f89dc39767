/** The membership in a fleet among the adapters. Its code, and that of NATS, is loaded at the start of a shard. */
import { AdapterLifecycle } from '../../core/adapter.ts';
import type { Adapter, AdapterStatus } from '../../core/adapter.ts';
import type { FleetMember, MemberContext } from '../../fleet/shard/member.ts';

export class FleetAdapter implements Adapter {
  readonly module = 'Lab';
  readonly comm = 'fleet';
  /** the name is free before the listeners close */
  readonly outbound = true;
  readonly #context: Omit<MemberContext, 'connect'>;
  readonly #lifecycle = new AdapterLifecycle();
  #member: FleetMember | null = null;

  constructor(context: Omit<MemberContext, 'connect'>) {
    this.#context = context;
  }

  start(): Promise<void> {
    return this.#lifecycle.start(async () => {
      const [{ FleetMember: Member }, { connectFleet }] = await Promise.all([
        import('../../fleet/shard/member.ts'),
        import('../../fleet/connect.ts'),
      ]);
      if (this.#isStopping()) return;
      const member = new Member({ ...this.#context, connect: connectFleet });
      await member.open();
      // a stop meanwhile had nothing to close
      if (this.#isStopping()) await member.close();
      else this.#member = member;
    });
  }

  /** A function, so that the compiler does not carry a check over an `await`. */
  #isStopping(): boolean {
    return this.#lifecycle.stopping;
  }

  stop(): Promise<void> {
    return this.#lifecycle.stop(async () => {
      await this.#member?.close();
    });
  }

  /** Begins to tick with the fleet. */
  startTicks(): void {
    this.#member?.startTicks();
  }

  /** Resolves when a tick under way has ended. */
  async stopTicks(): Promise<void> {
    await this.#member?.stopTicks();
  }

  /** Address of the gateway that leads the fleet; null: not known. */
  get gateway(): string | null {
    return this.#member?.gateway ?? null;
  }

  status(): AdapterStatus {
    const { state = this.#lifecycle.state, ...parts } = this.#member?.status() ?? {};
    return this.#lifecycle.status({ ...parts, state: this.#lifecycle.state === 'stopped' ? 'stopped' : state });
  }

  startLines(): readonly string[] {
    return this.#member?.startLines() ?? [];
  }
}
