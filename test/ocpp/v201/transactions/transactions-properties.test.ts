/** Transactions in any order of visits, cuts, drops and restarts (E01, E04). */
import { expect } from 'chai';
import fc from 'fast-check';
import { SimError } from '../../../../src/core/errors.ts';
import { txPoints } from '../../../../src/ocpp/v201/transactions/reasons.ts';
import { holdsAsync } from '../../../support/property.ts';
import { Central, newDisk, Station } from './station.ts';
import type { TxEvent } from './station.ts';

type Act = 'plug' | 'unplug' | 'authorize' | 'stop' | 'suspend' | 'resume' | 'fault' | 'clear';
type Step =
  | { readonly kind: 'act'; readonly act: Act; readonly evseId: 1 | 2 }
  | { readonly kind: 'run'; readonly seconds: number }
  | { readonly kind: 'cut'; readonly after: number }
  | { readonly kind: 'connect' }
  | { readonly kind: 'restart' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('act' as const),
      act: fc.constantFrom<Act>(
        'plug',
        'unplug',
        'authorize',
        'authorize',
        'stop',
        'suspend',
        'resume',
        'fault',
        'clear',
      ),
      evseId: fc.constantFrom(1 as const, 2 as const),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('run' as const), seconds: fc.integer({ min: 1, max: 300 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cut' as const), after: fc.integer({ min: 0, max: 3 }) }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'connect' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
);

const someOf = fc.subarray([...txPoints], { minLength: 1 }).map((list) => list.join(','));

const register = ({ meterValue }: TxEvent): number =>
  meterValue?.at(-1)?.sampledValue.find(({ measurand }) => measurand === 'Energy.Active.Import.Register')?.value ?? NaN;

function grouped(events: readonly TxEvent[]): ReadonlyMap<string, readonly TxEvent[]> {
  const byId = new Map<string, TxEvent[]>();
  for (const event of events) {
    const { transactionId } = event.transactionInfo;
    byId.set(transactionId, [...(byId.get(transactionId) ?? []), event]);
  }
  return byId;
}

class Run {
  station: Station;
  readonly #open: () => Promise<Station>;
  /** energy through each EVSE in all processes, Wh */
  readonly energyWh = new Map<number, number>([1, 2].map((id) => [id, 0]));

  /** energy of the connectors when their station was opened: its meters go on where those before a restart ended */
  #earlierWh: ReadonlyMap<number, number>;

  private constructor(station: Station, open: () => Promise<Station>) {
    this.station = station;
    this.#open = open;
    this.#earlierWh = this.#registers();
  }

  #registers(): ReadonlyMap<number, number> {
    return new Map([1, 2].map((id) => [id, this.station.connector(id).energyWh]));
  }

  static async begin(start: string, stop: string): Promise<Run> {
    const [disk, central] = [newDisk(), new Central()];
    const open = () =>
      Station.open({
        disk,
        central,
        variables: {
          'TxCtrlr/TxStartPoint': start,
          'TxCtrlr/TxStopPoint': stop,
          'SampledDataCtrlr/TxUpdatedInterval': '60',
        },
      });
    return new Run(await open(), open);
  }

  count(): void {
    for (const [id, registerWh] of this.#registers())
      this.energyWh.set(id, (this.energyWh.get(id) ?? 0) + registerWh - (this.#earlierWh.get(id) ?? 0));
  }

  /** What the device refuses changes nothing. */
  async #try(act: () => Promise<void> | void): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof SimError)) throw error;
    }
    await this.station.settle();
  }

  async #act(act: Act, evseId: 1 | 2): Promise<void> {
    const { station } = this;
    const connectorId = evseId;
    const acts: Readonly<Record<Act, () => Promise<void> | void>> = {
      plug: () => station.plug(evseId),
      unplug: () => station.unplug(evseId),
      authorize: () => station.authorize('04AA11BB', { evseId }),
      stop: () => {
        station.transactions.stop(evseId, { reason: 'Remote', trigger: 'RemoteStop' });
      },
      suspend: () => station.do({ kind: 'evse.suspend', connectorId, by: 'ev' }),
      resume: () => station.do({ kind: 'evse.resume', connectorId, by: 'ev' }),
      fault: () => station.do({ kind: 'evse.fault', connectorId, errorCode: 'OtherError' }),
      clear: () => station.do({ kind: 'evse.clear_fault', connectorId }),
    };
    await this.#try(acts[act]);
  }

  async do(each: Step): Promise<void> {
    const { station } = this;
    if (each.kind === 'act') await this.#act(each.act, each.evseId);
    else if (each.kind === 'run') await station.run(each.seconds);
    else if (each.kind === 'cut') station.central.cutAfter = each.after;
    else if (each.kind === 'connect') await station.connect(true);
    else {
      station.kill();
      this.count();
      this.station = await this.#open();
      this.#earlierWh = this.#registers();
    }
  }

  async finish(): Promise<readonly TxEvent[]> {
    await this.station.connect(true);
    this.station.transactions.leave('Other');
    await this.station.settle();
    this.count();
    return this.station.central.events;
  }
}

describe('transactions of 2.x in any order of cuts and restarts (E01, E04)', () => {
  it('each has one Started and one Ended, numbers without gaps, and all energy is in them', async function () {
    this.timeout(60_000);
    await holdsAsync(
      'transactions are whole',
      [someOf, someOf, fc.array(step, { maxLength: 40 })],
      async (start, stop, steps) => {
        const run = await Run.begin(start, stop);
        for (const each of steps) await run.do(each);
        const byId = grouped(await run.finish());
        const metered = new Map<number, number>([1, 2].map((id) => [id, 0]));
        for (const events of byId.values()) {
          expect(events.map(({ seqNo }) => seqNo)).to.deep.equal(events.map((_, at) => at));
          const types = events.map(({ eventType }) => eventType);
          expect(types.filter((type) => type !== 'Updated')).to.deep.equal(['Started', 'Ended']);
          expect([types[0], types.at(-1)]).to.deep.equal(['Started', 'Ended']);
          const [first, last] = [events[0], events.at(-1)];
          const evseId = first?.evse?.id ?? 0;
          if (first !== undefined && last !== undefined)
            metered.set(evseId, (metered.get(evseId) ?? 0) + register(last) - register(first));
        }
        for (const [id, energyWh] of run.energyWh)
          expect(metered.get(id), `energy of EVSE ${id}`).to.be.closeTo(energyWh, byId.size + 1);
      },
      { runs: 40 },
    );
  });
});
