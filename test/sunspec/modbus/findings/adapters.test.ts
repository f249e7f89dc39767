import { expect } from 'chai';
import type { Peer } from '../../../../src/core/findings/peer.ts';
import { createModbusMessages, ModbusTap } from '../../../../src/core/wire/modbus.ts';
import type { SimTime } from '../../../../src/core/time/clock.ts';
import { WireLog } from '../../../../src/core/wire/wire-log.ts';
import { createModbusAdapter } from '../../../../src/sunspec/modbus/bridge.ts';
import type { ModbusAdapter, ModbusAdapterOptions } from '../../../../src/sunspec/modbus/bridge.ts';
import { ModbusJudge } from '../../../../src/sunspec/modbus/findings/judge.ts';
import { createModbusRtuAdapter } from '../../../../src/sunspec/modbus/rtu-bridge.ts';
import type { SerialChannel } from '../../../../src/sunspec/modbus/serial-line.ts';
import { createDisturber } from '../../../../src/sunspec/modbus/faults/disturber.ts';
import { dropFault, exceptionFault } from '../../../../src/fault-kinds/modbus-transport.ts';
import type { SimPlant } from '../../../../src/der/plant/plant.ts';
import { FaultBench } from '../../../support/faults.ts';
import { FindingsRig } from '../../../support/findings.ts';
import { adu, RawClient, readRequest } from '../../../support/modbus-client.ts';
import { TlsRigs, until } from '../../../support/modbus-tls.ts';
import { testPki } from '../../../support/pki.ts';
import type { TestPki } from '../../../support/pki.ts';
import { testPlant } from '../../../support/plant.ts';
import { rtuRead } from '../../../support/rtu.ts';

const word = (value: number) => value.toString(16).padStart(4, '0');

describe('findings of Modbus: through the adapters', () => {
  let findings: FindingsRig;
  let judge: ModbusJudge;
  let plant: SimPlant;

  beforeEach(() => {
    findings = new FindingsRig();
    judge = new ModbusJudge(findings.registry, findings.wall);
    plant = testPlant({ types: ['PV-3Phase'], unitAddressOf: () => 1 });
  });

  const addressOf = (point: string) => plant.device(0).bank.layout.named(point)?.address ?? 0;
  const peers = () => findings.registry.peers.valid;
  const onlyPeer = (): Peer => {
    const [peer, ...others] = peers();
    if (peer === undefined || others.length > 0) throw new Error(`there are ${peers().length} peers`);
    return peer;
  };
  const ids = () => findings.ids(onlyPeer());
  const caseOf = (rule: string) => findings.row(onlyPeer(), `modbus.${rule}`).cases[0];

  describe('TCP', () => {
    let adapter: ModbusAdapter;
    const clients: RawClient[] = [];

    async function open(options: Partial<ModbusAdapterOptions> = {}): Promise<RawClient> {
      adapter = createModbusAdapter({
        devices: plant.devices,
        host: '127.0.0.1',
        port: 0,
        sharedPort: false,
        judge,
        clock: findings.wall,
        later: findings.timers.later,
        ...options,
      });
      await adapter.start();
      return connect();
    }

    async function connect(): Promise<RawClient> {
      const client = await RawClient.open(adapter.endpointOf(0)?.port ?? 0);
      clients.push(client);
      return client;
    }

    afterEach(async () => {
      for (const client of clients.splice(0)) client.destroy();
      await adapter.stop();
    });

    it('a master is its address, whatever its port, with its requests and connections', async () => {
      const client = await open();
      await client.request(readRequest(1, 40_000, 3));
      const second = await connect();
      await second.request(readRequest(1, 40_000, 3));
      const peer = onlyPeer();
      expect(peer.identity).to.deep.equal({ protocol: 'modbus', address: '127.0.0.1' });
      expect(peer).to.include({ requests: 2, openConnections: 2, hasWritten: false });
      expect([...(peer.facets.get('unit') ?? [])]).to.deep.equal(['1']);
      client.destroy();
      await until(() => peer.openConnections === 1);
      expect(findings.ids(peer, 'held')).to.include.members(['modbus.read_part_of_point', 'modbus.frame_invalid']);
    });

    it('a write of a part of a point is found with its message in the wire log', async () => {
      const wireLog = new WireLog({ clock: findings.wall, sim: () => 0 as SimTime, log: { error: () => undefined } });
      const messages = createModbusMessages(wireLog);
      messages.record(true, { source: 'rest' });
      const client = await open({ tap: new ModbusTap(messages, 'modbus_tcp', findings.wall) });
      await client.request(readRequest(1, 40_000, 3));
      const write = adu(2, 1, `10${word(addressOf('704.WMaxLimPctRvrtTms'))}0001020000`);
      await client.request(write);
      expect(ids()).to.deep.equal(['modbus.write_part_of_point']);
      const { message, excerpt, deviceIndex } = caseOf('write_part_of_point') ?? {};
      expect(deviceIndex).to.equal(0);
      expect(excerpt).to.equal(write.toString('hex'));
      const logged = messages.list({}).find(({ id }) => id === message?.id);
      expect(logged?.raw.toString('hex')).to.equal(write.toString('hex'));
    });

    it('a stream that stops being Modbus and ten short connections are found', async () => {
      const client = await open();
      await client.request(readRequest(1, 40_000, 3));
      client.send('00020001000601039c400003');
      await client.untilClosed();
      expect(ids()).to.deep.equal(['modbus.frame_invalid']);
      for (let i = 0; i < 10; i += 1) {
        const short = await connect();
        await short.request(readRequest(1, 40_000, 3));
        const before = onlyPeer().openConnections;
        short.destroy();
        await until(() => onlyPeer().openConnections < before);
      }
      expect(ids()).to.deep.equal(['modbus.frame_invalid', 'modbus.connection_per_request']);
    });

    const disturberOf = ({ registry }: FaultBench) =>
      createDisturber({
        registry,
        monotonicMs: () => 0,
        deviceIndexes: () => [0],
        holds: () => true,
        spans: () => [],
      });

    it('a master one of whose answers came from a fault is not said to reuse a transaction id', async () => {
      const bench = new FaultBench([0]);
      bench.inject(exceptionFault, { code: 6 }, { count: 1 });
      const client = await open({ disturber: disturberOf(bench) });
      await client.request(readRequest(0, 40_000, 3));
      client.send(Buffer.concat([readRequest(0, 40_000, 2), readRequest(0, 40_000, 3)]).toString('hex'));
      await until(() => onlyPeer().requests === 3);
      expect(ids()).to.deep.equal([]);
    });

    it('a refusal by a fault that is repeated counts, although the device never saw the write', async () => {
      const bench = new FaultBench([0]);
      bench.inject(exceptionFault, { code: 4 });
      const client = await open({ disturber: disturberOf(bench) });
      const write = adu(2, 1, `06${word(addressOf('704.WMaxLimPct'))}01f4`);
      for (let i = 0; i < 4; i += 1) await client.request(write);
      expect(ids()).to.deep.equal(['modbus.refused_write_repeated']);
      expect(onlyPeer().requests).to.equal(4);
    });

    it('a request without an answer that comes again at once is found', async () => {
      const bench = new FaultBench([0]);
      bench.inject(dropFault, {}, { count: 3 });
      const client = await open({ disturber: disturberOf(bench) });
      client.send(Array.from({ length: 4 }, () => readRequest(1, 40_000, 3).toString('hex')).join(''));
      await until(() => peers()[0]?.requests === 4);
      expect(ids()).to.deep.equal([]);
      bench.inject(dropFault, {}, { count: 3 });
      findings.wall.advance(10_000);
      for (let i = 5; i < 9; i += 1) {
        findings.wall.advance(500);
        client.send(readRequest(1, 40_000, 3).toString('hex'));
        await until(() => onlyPeer().requests === i);
      }
      expect(ids()).to.deep.equal(['modbus.retry_hasty']);
    });

    it('a master that returns to the same port at once is found, and one that goes on to the next is not', async () => {
      const client = await open();
      client.destroy();
      for (let i = 0; i < 7; i += 1) {
        const visitor = await connect();
        await visitor.request(readRequest(1, 40_000, 3));
        await visitor.request(readRequest(2, 40_000, 3));
        visitor.destroy();
        await until(() => onlyPeer().openConnections === 0);
      }
      expect(ids()).to.deep.equal(['modbus.reconnect_hasty']);
    });

    it('an enable from another protocol ends the wait for it', async () => {
      const client = await open();
      await client.request(readRequest(1, 40_000, 3));
      await client.request(adu(2, 1, `06${word(addressOf('704.WMaxLimPct'))}01f4`));
      plant.device(0).bank.transact({ source: 'dnp3' }, (tx) => {
        tx.m704.WMaxLimPctEna = 'ENABLED';
      });
      findings.timers.pass(9000);
      await client.request(readRequest(3, 40_000, 3));
      findings.timers.pass(1000);
      expect(ids()).to.deep.equal([]);
    });
  });

  describe('TLS', () => {
    let pki: TestPki;
    let rigs: TlsRigs;

    before(async () => {
      pki = await testPki();
      rigs = new TlsRigs(pki);
    });
    afterEach(() => rigs.end());

    it('a master is its address and certificate, with its role', async () => {
      const rig = await rigs.rig({}, { judge });
      const client = await rigs.open(rig, pki.clients.GridServiceSunSpec);
      await client.request(readRequest(1, 100, 1));
      const peer = onlyPeer();
      expect(peer.identity.certificate).to.match(/^[0-9a-f]{64}$/);
      expect([...(peer.facets.get('role') ?? [])]).to.deep.equal(['GridServiceSunSpec']);
      expect(findings.ids(peer, 'held')).to.include('modbus.tls_client');
    });

    it('an expired certificate is found, and one of an unknown CA is not', async () => {
      const rig = await rigs.rig({}, { judge });
      for (const identity of ['foreign CA', 'expired'] as const) {
        expect(peers()).to.deep.equal([]);
        const client = RawClient.over(rigs.connect(rig, pki.refused[identity]));
        await client.untilClosed();
        await until(() => rig.context.counters.handshakeFailures === (identity === 'expired' ? 2 : 1));
      }
      expect(ids()).to.deep.equal(['modbus.tls_client']);
      expect(caseOf('tls_client')?.facts).to.deep.equal({ reason: 'its certificate has expired' });
    });
  });

  describe('RTU', () => {
    it('a master is the line, and requests to other devices on it are not its own', async () => {
      let receive: (chunk: Buffer) => void = () => undefined;
      const port: SerialChannel = {
        isOpen: true,
        writableLength: 0,
        readableLength: 0,
        on(event: string, listener: unknown) {
          if (event === 'data') receive = listener as typeof receive;
        },
        write: () => true,
        drain(then) {
          then();
        },
        pause: () => undefined,
        resume: () => undefined,
        close(then) {
          then();
        },
      };
      const adapter = createModbusRtuAdapter({
        devices: plant.devices,
        line: { path: '/dev/ttyTEST', baudRate: 9600, parity: 'even', stopBits: 1 },
        clock: findings.wall,
        later: findings.timers.later,
        judge,
        open: () => Promise.resolve(port),
      });
      await adapter.start();
      receive(rtuRead(9, 40_000, 3));
      findings.timers.pass(100);
      receive(rtuRead(1, 40_000, 3));
      findings.timers.pass(100);
      const peer = onlyPeer();
      expect(peer.identity).to.deep.equal({ protocol: 'modbus', address: '/dev/ttyTEST' });
      expect(peer).to.include({ requests: 1, openConnections: 1 });
      expect(findings.ids(peer, 'held')).to.include('modbus.read_part_of_point');
      await adapter.stop();
      expect(peer.openConnections).to.equal(0);
    });
  });
});
