import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ServerTCP } from 'modbus-serial';
import { createSunSpecClient } from '../../src/sunspec/client/client.ts';
import type { SunSpecClientAdapter } from '../../src/sunspec/client/client.ts';
import { connected, failureOf, pointsOf } from '../support/client.ts';
import { oldInverter } from '../support/foreign-map.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { cable, end, ends } from './support/cable.ts';
import { PythonPeer, describeWith } from './support/peers.ts';

interface Expected {
  readonly type: string;
  readonly raw: string | null;
  readonly scaled: number | string | null;
}

describeWith(
  ['pysunspec2', 'pymodbus'],
  'a device encoded by the one and served by the other, read by the SunSpec client',
  () => {
    let device: PythonPeer;
    let models: readonly { readonly id: number; readonly points: Readonly<Record<string, Expected>> }[];
    let client: SunSpecClientAdapter;

    before(async () => {
      device = new PythonPeer('sunspec_device', 0);
      models = await device.ask('describe');
      ({ client } = await connected(await device.ask('port'), { timeoutMs: 5000 }));
    });
    after(async () => {
      await client.stop();
      await device.stop();
    });

    it('finds the chain that the peer serves', () => {
      const { discovery } = client.view();
      expect(discovery).to.deep.include({ baseAddress: 40_000, end: 'end_model', notes: [] });
      expect(discovery!.models.map(({ id }) => id)).to.deep.equal(models.map(({ id }) => id));
    });

    it('shows every point with the value that was encoded', async () => {
      let compared = 0;
      let absent = 0;
      for (const { id, points } of models) {
        const reading = await client.readModel(id, 0, true);
        expect([reading.expectedLength, reading.notes], `${id}`).to.deep.equal([null, []]);
        const seen = pointsOf(reading);
        expect([...seen.keys()], `${id}`).to.deep.equal(Object.keys(points));
        for (const [path, { type, raw, scaled }] of Object.entries(points)) {
          const point = seen.get(path)!;
          const name = `${id}.${path} ${type} ${raw}`;
          compared += 1;
          if (raw === null) {
            absent += 1;
            expect(point, name).to.deep.include({ value: null, implemented: false });
          } else if (typeof point.value === 'string' && type !== 'string') {
            expect(point.value.replace('.', '').replace(/^0+(?=\d)/, ''), name).to.satisfy(
              (digits: string) => raw.startsWith(digits) || digits.startsWith(raw),
            );
          } else if (type === 'string') expect(point.value, name).to.equal(raw);
          else if (type === 'float32')
            expect(point.value, name).to.be.closeTo(Number(raw), Math.abs(Number(raw)) * 1e-6);
          else expect(point.value, name).to.be.closeTo(Number(scaled), Math.abs(Number(scaled)) * 1e-12);
        }
      }
      expect(compared).to.be.greaterThan(800);
      expect(absent).to.be.greaterThan(50);
    });

    it('writes points by name', async () => {
      const { points } = models.find(({ id }) => id === 123)!;
      const factor = 10 ** Number(points['WMaxLimPct_SF']!.raw);
      const outcome = await client.writePoints(123, 0, {
        WMaxLimPct: 3 * factor,
        WMaxLim_Ena: 'ENABLED',
        Conn_RvrtTms: 60,
      });
      expect(outcome.match).to.equal(true);
      expect(outcome.points[0]!.rawWritten).to.deep.equal([3]);
      expect((await client.writePoints(705, 0, { 'Crv[1].ActPt': 3, AdptCrvReq: 2 })).match).to.equal(true);
    });

    it('refuses a point that is not in the map', async () => {
      expect((await failureOf(client.readRegisters(100, 1))).protocolCode).to.equal(2);
    });
  },
);

describe('ServerTCP of modbus-serial, read by the SunSpec client', () => {
  let server: ServerTCP;
  let client: SunSpecClientAdapter;
  const { layout, image } = oldInverter();

  before(async () => {
    const at = (address: number) => {
      if (address < layout.base || address >= layout.base + layout.size)
        throw Object.assign(new Error('no such register'), { modbusErrorCode: 2 });
      return (address - layout.base) * 2;
    };
    server = new ServerTCP(
      {
        getHoldingRegister: (address: number) => image.readUInt16BE(at(address)),
        setRegister: (address: number, value: number) => {
          image.writeUInt16BE(value, at(address));
        },
      },
      { host: '127.0.0.1', port: 0, unitID: 1 },
    );
    const port = await new Promise<number>((resolve) => {
      server.on('initialized', () => {
        resolve((server as unknown as { readonly _server: { address(): { port: number } } })._server.address().port);
      });
    });
    ({ client } = await connected(port, { timeoutMs: 2000 }));
  });
  after(async () => {
    await client.stop();
    await new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
    });
  });

  it('is found, read and written', async () => {
    expect(client.view().discovery!.models.map(({ id }) => id)).to.deep.equal([1, 103, 120, 123, 160]);
    expect(pointsOf(await client.readModel(103, 0, true)).get('W')!.value).to.equal(4950);
    expect(
      await client.writePoints(123, 0, { WMaxLimPct: 42, WMaxLim_Ena: 'ENABLED', WMaxLimPct_RvrtTms: 5 }),
    ).to.include({ match: true });
    expect(pointsOf(await client.readModel(123, 0, true)).get('WMaxLimPct')!.value).to.equal(42);
  });
});

describeWith(['socat'], 'the SunSpec client over a serial line', () => {
  let directory: string;
  let socat: ChildProcess;
  let simulator: RunningSimulator;
  let client: SunSpecClientAdapter;
  let path: string;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'derbench-client-'));
    socat = await cable(directory);
    const [ours, theirs] = ends(directory);
    simulator = await startSimulator([
      '-N',
      '2',
      '-mb',
      'no',
      '-rtu',
      'yes',
      '--rtu_port',
      ours,
      '--rtu_baud',
      '115200',
      '--rtu_parity',
      'E',
    ]);
    path = realpathSync(theirs);
  });
  beforeEach(() => {
    client = createSunSpecClient({ ptys: true });
  });
  afterEach(() => client.stop());
  after(async () => {
    const code = await simulator.stop();
    await end(socat);
    rmSync(directory, { recursive: true });
    expect(code).to.equal(0);
  });

  const connect = (unitId: number, timeoutMs = 2000) =>
    client.connect({
      transport: 'rtu',
      serial: { path, baud: 115_200, parity: 'E', stopBits: 1 },
      unitId,
      timeoutMs,
      baseAddress: null,
    });

  it('finds, reads and writes a device', async () => {
    const status = await connect(2);
    expect([status.state, status.endpoint, status.discovery!.end]).to.deep.equal([
      'connected',
      `serial:${path}`,
      'end_model',
    ]);
    expect(status.identity!.serialNumber).to.equal('DB-000001');
    expect(pointsOf(await client.readModel(701, 0, true)).get('ConnSt')!.symbol).to.equal('CONNECTED');
    expect((await client.writePoints(704, 0, { WMaxLimPct: 55, WMaxLimPctEna: 1 })).match).to.equal(true);
    expect((await failureOf(client.readRegisters(10, 1))).protocolCode).to.equal(2);
  });

  it('reports an address without a device, and releases the line', async () => {
    const failure = await failureOf(connect(9, 100));
    expect([failure.code, failure.message]).to.deep.equal([
      'PEER_TIMEOUT',
      'no answer from unit 9 within 0.1 s, reading 2 registers at 40000',
    ]);
    expect((await connect(1)).state).to.equal('connected');
  });

  it('releases the line on disconnect', async () => {
    await connect(1);
    const pending = failureOf(client.readRegisters(40_000, 125));
    await client.disconnect();
    expect((await pending).code).to.equal('COMMAND_CONFLICT');
    expect((await connect(1)).state).to.equal('connected');
  });
});
