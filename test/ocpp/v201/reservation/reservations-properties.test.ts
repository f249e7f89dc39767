/** Reservations, tokens and faults in any order: what holds after each step. */
import { expect } from 'chai';
import type { RandomStream } from '../../../../src/core/random.ts';
import { card, SessionRig } from '../authorization/session.ts';
import { casesOf } from '../../../support/random.ts';

const tokens = ['AAAAAAAA', 'BBBBBBBB', 'CCCCCCCC'];
const types = ['cType2', 'cCCS2', undefined] as const;
const seeds = 12;
const steps = 60;

/** One station and what may happen to it. */
class Course {
  readonly rig: SessionRig;
  readonly #random: RandomStream;

  constructor(rig: SessionRig, seed: number) {
    this.rig = rig;
    this.#random = casesOf('reservations', seed);
  }

  pick<T>(of: readonly T[]): T {
    return of[Math.floor(this.#random.next() * of.length)] as T;
  }

  get evseId(): number {
    return this.pick([1, 2]);
  }

  async reserve(): Promise<string> {
    const { rig } = this;
    const evseId = this.pick([1, 2, undefined]);
    const connectorType = this.pick(types);
    await rig.ask('ReserveNow', {
      id: this.pick([1, 2, 3]),
      idToken: card(this.pick(tokens)),
      expiryDateTime: rig.inMs(this.pick([20, 200])),
      ...(evseId !== undefined && { evseId }),
      ...(connectorType !== undefined && { connectorType }),
    });
    return 'reserve';
  }

  /** An operation at the station; one that its state does not permit is none. */
  async attempt(name: string, act: () => Promise<void>): Promise<string> {
    try {
      await act();
      return name;
    } catch (error) {
      expect((error as { code?: string }).code, String(error)).to.equal('COMMAND_CONFLICT');
      return `no ${name}`;
    }
  }

  async step(): Promise<string> {
    const { rig, evseId, pick } = { rig: this.rig, evseId: this.evseId, pick: this.pick.bind(this) };
    const acts: readonly (() => Promise<string>)[] = [
      () => this.reserve(),
      () => this.reserve(),
      () => rig.ask('CancelReservation', { reservationId: pick([1, 2, 3]) }).then(({ status }) => `cancel ${status}`),
      () => rig.present(pick(tokens), evseId, 'ISO14443').then((said) => `present ${evseId} ${said}`),
      () =>
        rig
          .ask('RequestStartTransaction', { idToken: card(pick(tokens)), remoteStartId: 1, evseId })
          .then(({ status }) => `start ${evseId} ${status}`),
      () => this.attempt(`plug ${evseId}`, () => rig.plug(evseId)),
      () => this.attempt(`unplug ${evseId}`, () => rig.unplug(evseId)),
      () => this.attempt('fault', () => rig.do({ kind: 'evse.fault', connectorId: evseId, errorCode: 'OtherError' })),
      () => this.attempt('clear', () => rig.do({ kind: 'evse.clear_fault', connectorId: evseId })),
      () =>
        this.attempt('availability', () =>
          rig.do({ kind: 'evse.availability', connectorId: evseId, operative: pick([true, true, false]) }),
        ),
      () => rig.connect(pick([true, true, false])).then(() => 'connect'),
      () => rig.run(pick([1, 15, 70])).then(() => 'run'),
    ];
    return await pick(acts)();
  }
}

function holdsAfter({ rig }: Course, before: ReadonlyMap<number, string>, said: string): void {
  const entries = rig.reservations.entries();
  expect(new Set(entries.map(({ reservationId }) => reservationId)).size, said).to.equal(entries.length);
  for (const { reservationId, connectorId, expiresMs } of entries) {
    expect(expiresMs, said).to.be.above(rig.parts.clock.nowMs());
    if (connectorId === 0) continue;
    const { reservation, status } = rig.connector(connectorId);
    // no other reservation is on it, and it is out of order for none
    expect(reservation?.reservationId, said).to.equal(reservationId);
    expect(['faulted', 'unavailable'], said).not.to.include(status);
  }
  // the device keeps no reservation that the book has not
  for (const { reservation } of rig.port.detail.connectors)
    if (reservation !== null)
      expect(
        entries.map(({ reservationId }) => reservationId),
        said,
      ).to.include(reservation.reservationId);
  // a token that has begun at a reserved EVSE was that of the reservation
  for (const [evseId, text] of before) {
    const { authorised } = rig.connector(evseId);
    const stillThere = entries.some(({ connectorId, idToken }) => connectorId === evseId && idToken === text);
    if (authorised && !stillThere) expect(rig.connector(evseId).session?.idToken ?? text, said).to.equal(text);
  }
}

describe('OCPP 2.x reservations in any order of events (H01 to H04)', () => {
  for (let seed = 1; seed <= seeds; seed++)
    it(`seed ${seed}: book and device agree, and no other token gets in`, async () => {
      const rig = await SessionRig.open({
        version: seed % 2 === 0 ? 'ocpp2.1' : 'ocpp2.0.1',
        variables: { 'Connector.ConnectorType@1': 'cType2', 'Connector.ConnectorType@2': 'cCCS2' },
      });
      const course = new Course(rig, seed);
      const log: string[] = [];
      for (let i = 0; i < steps; i++) {
        const own = rig.reservations.entries().filter(({ connectorId }) => connectorId > 0);
        const before = new Map(
          own
            .filter(({ connectorId }) => !rig.connector(connectorId).authorised)
            .map(({ connectorId, idToken }) => [connectorId, idToken]),
        );
        log.push(await course.step());
        holdsAfter(course, before, log.slice(-6).join('; '));
      }
      rig.kill();
    });
});
