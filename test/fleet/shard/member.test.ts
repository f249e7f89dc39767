import { expect } from 'chai';
import { createLogBook } from '../../../src/core/log/log.ts';
import { FleetError } from '../../../src/fleet/link.ts';
import { FleetMember } from '../../../src/fleet/shard/member.ts';
import { failureOf } from '../../support/client.ts';
import { testPlant } from '../../support/plant.ts';
import { clockRecord, handTime } from '../support/clock.ts';
import { MemoryServer } from '../support/memory-link.ts';
import { shardSettings } from '../support/shard.ts';

describe('fleet: the member of a fleet', () => {
  for (const failing of ['op', 'clock-prepare', 'clock-set'])
    it(`leaves no timer, endpoint, listener and lease where "${failing}" cannot be served`, async () => {
      const { wall, timers, settle } = handTime();
      const server = new MemoryServer(() => wall.monotonicMs());
      const plant = testPlant();
      const logBook = createLogBook({ write: () => undefined });
      const link = server.link();
      const serve = link.serve.bind(link);
      link.serve = (name, ...rest) =>
        name === failing ? Promise.reject(new FleetError('denied', `no right to serve ${name}`)) : serve(name, ...rest);
      wall.advance(10_000);
      const member = new FleetMember({
        settings: { ...shardSettings, shard: 'a' },
        plant,
        joined: { record: clockRecord({ mode: 'paused' }), anchors: new Map() },
        logBook,
        log: logBook.logger('Lab'),
        clock: wall,
        later: timers.later,
        performBytes: () => Promise.reject(new Error('no request comes')),
        traits: { version: '1.0.0', apiVersion: '1.0.0', settings: {} },
        http: () => null,
        ports: () => ({}),
        lost: () => undefined,
        connect: () => Promise.resolve(link),
      });
      expect((await failureOf(member.open())).message).to.contain(`no right to serve ${failing}`);
      expect([timers.waiting, server.services.size, server.leases.entries, link.state]).to.deep.equal([
        0,
        0,
        [],
        'closed',
      ]);
      const { length } = server.published;
      await plant.step(1);
      logBook.logger('Lab').info('a line after the end');
      link.set('connected');
      await settle();
      expect(server.published.length).to.equal(length);
    });
});
