/** Identities and places of devices in the protocols, and their change while the simulator runs. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Server } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { createApp } from '../../../src/app/build.ts';
import type { App } from '../../../src/app/start-stop.ts';
import { configOfOptions } from '../../../src/config/layers/load.ts';
import type { SimError } from '../../../src/core/errors.ts';
import { createLogBook } from '../../../src/core/log/log.ts';
import { hex } from '../../dnp3/rig/frames.ts';
import { TestMaster } from '../../dnp3/rig/master.ts';
import { Site } from '../../csip/whole/site.ts';
import { Central } from '../../ocpp/central/central.ts';
import type { Json } from '../../support/http.ts';
import { freePorts, occupied } from '../../support/ports.ts';
import { holdsAsync } from '../../support/property.ts';
import { TestFolder } from '../../support/state-folder.ts';

type Options = Readonly<Record<string, unknown>>;

class Lab {
  readonly app: App;

  constructor(options: Options, folder?: TestFolder) {
    const logBook = createLogBook({ write: () => undefined });
    this.app = createApp(configOfOptions({ history_samples: 100, ...options }), {
      logBook,
      checkReplies: true,
      ...(folder && { openStateFolder: () => folder }),
    });
  }

  static async start(options: Options, folder?: TestFolder): Promise<Lab> {
    const lab = new Lab(options, folder);
    await lab.app.start();
    return lab;
  }

  async call(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: Json }> {
    return this.app.api.perform({ method, path, body, by: { source: 'rest' } });
  }

  async good(method: string, path: string, body?: unknown): Promise<Json> {
    const answer = await this.call(method, path, body);
    expect(answer.status, JSON.stringify(answer.body)).to.be.within(200, 299);
    return answer.body;
  }

  change(index: number, body: unknown): Promise<Json> {
    return this.good('PATCH', `/devices/${index}`, body);
  }

  /** Identities and places as REST shows them. */
  async places(index: number): Promise<Json> {
    const { name, modbus, ocpp, csip, dnp3 } = await this.good('GET', `/devices/${index}`);
    return { name, modbus, ocpp, csip, dnp3 };
  }
}

/** Serial number (1.SN) of the unit at an address; a code: the exception; null: nothing listens there. */
async function serialAt(port: number, unitId = 1): Promise<string | number | null> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    // 1.SN: 16 registers behind the marker, ID, L, Mn, Md, Opt and Vr
    socket.write(Buffer.from([0, 1, 0, 0, 0, 6, unitId, 3, 0x9c, 0x74, 0, 16]));
    const [octets] = (await once(socket, 'data')) as [Buffer];
    return octets.readUInt8(7) === 3 ? octets.toString('latin1', 9).replaceAll('\0', '') : octets.readUInt8(8);
  } catch {
    return null;
  } finally {
    socket.destroy();
  }
}

const serialOf = ({ app }: Lab, index: number) => app.plant.device(index).bank.map.m1.SN;

/** The name of the device that answers at a link address; null: nobody does. */
async function outstationAt(port: number, outstation: number): Promise<string | null> {
  const master = await TestMaster.connect({ port, outstation, address: 1 }).catch(() => null);
  if (master === null) return null;
  // g0v247, the name of the outstation
  const { objects } = await master.ask(1, hex('00 f7 00 00 00'));
  await master.close();
  return objects.subarray(7).toString('latin1');
}

const occupants: Server[] = [];

/** A port that another program has, until the end of the test. */
async function occupiedPort(): Promise<number> {
  const { server, port } = await occupied();
  occupants.push(server);
  return port;
}

afterEach(() => {
  for (const server of occupants.splice(0)) server.close();
});

describe('Identities and places of a device', () => {
  let lab: Lab;
  afterEach(() => lab.app.stop());

  describe('Modbus', () => {
    it('a port of its own in a file: the device is there, and not in the row', async () => {
      const first = await freePorts(3);
      lab = await Lab.start({ mb_port: first, devices: [{}, { modbus: { port: first + 2 } }] });
      expect([await serialAt(first), await serialAt(first + 1), await serialAt(first + 2)]).to.deep.equal([
        serialOf(lab, 0),
        null,
        serialOf(lab, 1),
      ]);
    });

    it('a change of the port closes the connections of that device alone', async () => {
      const first = await freePorts(3);
      lab = await Lab.start({ mb_port: first, devices: [{}, {}] });
      const masters = [connect(first, '127.0.0.1'), connect(first + 1, '127.0.0.1')] as const;
      await Promise.all(masters.map((socket) => once(socket, 'connect')));
      const closed = once(masters[1].resume(), 'close');
      const answer = await lab.change(1, { modbus: { port: first + 2 } });
      await closed;
      expect([answer.restarted, answer.device_restarted]).to.deep.equal([['modbus_tcp'], false]);
      expect(answer.modbus.port).to.equal(first + 2);
      expect([await serialAt(first + 1), await serialAt(first + 2)]).to.deep.equal([null, serialOf(lab, 1)]);
      masters[0].write(Buffer.from([0, 1, 0, 0, 0, 6, 1, 3, 0x9c, 0x40, 0, 2]));
      expect((await once(masters[0], 'data'))[0]).to.have.length(13);
      masters[0].destroy();
      await lab.change(1, { modbus: null });
      expect(await serialAt(first + 1)).to.equal(serialOf(lab, 1));
    });

    it('a unit id on a shared port: at POST, and at PATCH', async () => {
      const port = await freePorts(1);
      lab = await Lab.start({ mb_port: port, mb_shared_port: true, devices: [{}] });
      await lab.good('POST', '/devices', { modbus: { unit_id: 42 } });
      expect([await serialAt(port, 2), await serialAt(port, 42)]).to.deep.equal([11, serialOf(lab, 1)]);
      await lab.change(1, { modbus: { unit_id: 9 } });
      expect([await serialAt(port, 42), await serialAt(port, 9)]).to.deep.equal([11, serialOf(lab, 1)]);
      expect(await serialAt(port, 1)).to.equal(serialOf(lab, 0));
    });

    it('a place that another device has is refused with 409, and in a file', async () => {
      const first = await freePorts(2);
      lab = await Lab.start({ mb_port: first, devices: [{}, {}] });
      const { status, body } = await lab.call('PATCH', '/devices/0', { modbus: { port: first + 1 } });
      expect([status, body.detail]).to.deep.equal([
        409,
        `device 1 has the Modbus port ${first + 1}; give another one in modbus.port`,
      ]);
      const added = await lab.call('POST', '/devices', { modbus: { port: first } });
      expect([added.status, lab.app.plant.devices.length]).to.deep.equal([409, 2]);
      const issueOf = (options: Options): string => {
        try {
          configOfOptions(options);
          return 'none';
        } catch (error) {
          return (error as SimError).issues.map(({ name, detail }) => `${name}: ${detail}`).join('; ');
        }
      };
      expect(issueOf({ mb_port: 5020, devices: [{}, { modbus: { port: 5020 } }] })).to.equal(
        'modbus.port of device 1: the Modbus port 5020, which device 0 has too; allowed: another one',
      );
      expect(issueOf({ mb_shared_port: true, devices: [{ modbus: { unit_id: 2 } }, {}] })).to.equal(
        'modbus.unit_id of device 1: the unit id 2, which device 0 has too; allowed: another one',
      );
      expect(issueOf({ website_port: 8111, devices: [{ modbus: { port: 8111 } }] })).to.include('8111');
      expect(issueOf({ devices: [{ count: 2, modbus: { port: 8111 } }] })).to.include('given for 2 devices');
    });

    it('a port that another program has: the device stays where it was', async () => {
      const port = await occupiedPort();
      const first = await freePorts(1);
      lab = await Lab.start({ mb_port: first, devices: [{ name: 'A' }] });
      const before = await lab.places(0);
      const { status } = await lab.call('PATCH', '/devices/0', { name: 'B', modbus: { port } });
      expect([status, await lab.places(0)]).to.deep.equal([409, before]);
      expect(await serialAt(first)).to.equal(serialOf(lab, 0));
    });
  });

  describe('DNP3', () => {
    const dnp3 = { dnp3_enable: true, dnp3_remote_addr: [1], dnp3_outstation_addr: 10, mb_enable: false };

    it('address, port and map at POST and PATCH', async () => {
      const port = await freePorts(2);
      lab = await Lab.start({ ...dnp3, devices: [{ name: 'First' }] });
      await lab.good('POST', '/devices', { name: 'Second', dnp3: { address: 77, port } });
      expect(await outstationAt(port, 77)).to.equal('Second');
      const answer = await lab.change(1, { dnp3: { address: 78, port: port + 1, profile: 'ieee1815.2' } });
      expect(answer.restarted).to.deep.equal(['dnp3']);
      expect(answer.dnp3).to.deep.equal({ address: 78, port: port + 1, profile: 'ieee1815.2' });
      expect([await outstationAt(port, 77), await outstationAt(port + 1, 78)]).to.deep.equal([null, 'Second']);
    });

    it('addresses on a shared port differ; an outstation shows the new name of its device', async () => {
      const port = await freePorts(1);
      lab = await Lab.start({ ...dnp3, dnp3_shared_port: true, dnp3_port: port, devices: [{}, {}] });
      const { status, body } = await lab.call('PATCH', '/devices/1', { dnp3: { address: 10 } });
      expect([status, body.detail]).to.deep.equal([
        409,
        'device 0 has the link address 10; give another one in dnp3.address',
      ]);
      expect((await lab.call('PATCH', '/devices/1', { dnp3: { address: 1 } })).body.detail).to.include(
        'that of a master',
      );
      await lab.change(1, { name: 'Roof', dnp3: { address: 200 } });
      expect(await outstationAt(port, 200)).to.equal('Roof');
      expect(await outstationAt(port, 10)).to.equal('PV-3Phase 0');
      await lab.change(1, { name: null });
      expect(await outstationAt(port, 200)).to.equal('PV-3Phase 1');
    });
  });

  it('OCPP: the URL of the handshake has the new identity, and the former one is free', async () => {
    const central = await Central.open();
    lab = await Lab.start({
      mb_enable: false,
      ocpp_enable: true,
      ocpp_csms_url: `ws://127.0.0.1:${central.port}/cs`,
      devices: [{ device_type: 'EVSE', ocpp: { id: 'A' } }],
    });
    const connected = async (id: string) => {
      while (!central.requests.some(({ url }) => url === `/cs/${id}`)) await new Promise(setImmediate);
    };
    await connected('A');
    const answer = await lab.change(0, { ocpp: { id: 'B', auto_authorize: true } });
    await connected('B');
    expect([answer.restarted, answer.charge_point_id, answer.ocpp.id]).to.deep.equal([['ocpp'], 'B', 'B']);
    expect(answer.ocpp).to.include({ auto_authorize: true });
    expect((await lab.call('POST', '/devices', { device_type: 'EVSE', ocpp: { id: 'B' } })).status).to.equal(409);
    await lab.good('POST', '/devices', { device_type: 'EVSE', ocpp: { id: 'A' } });
    await lab.app.stop();
    await central.close();
  });

  it('a secret is neither shown nor in GET config, and null takes a block back', async () => {
    lab = new Lab({ mb_enable: false, devices: [{ csip: { pin: 111115, nmi: 'N1' } }] });
    expect((await lab.places(0)).csip).to.deep.equal({ nmi: 'N1', lfdi: null, pin_set: true });
    const config = await lab.good('GET', '/config');
    expect([config.devices[0].csip, config.notes]).to.deep.equal([
      { nmi: 'N1' },
      ['csip.pin of device 0 is left out: it is a secret'],
    ]);
    expect(JSON.stringify(config)).not.to.include('111115');
    await lab.change(0, { csip: { pin: null } });
    expect((await lab.places(0)).csip).to.deep.equal({ nmi: 'N1', lfdi: null, pin_set: false });
    await lab.change(0, { csip: null });
    expect((await lab.places(0)).csip.nmi).to.equal(null);
    const { status, body } = await lab.call('PATCH', '/devices/0', { csip: { pin: 111111 } });
    expect([status, body.errors[0].name]).to.deep.equal([422, '/csip/pin']);
    expect(JSON.stringify(body)).not.to.include('111111');
  });

  it('refuses what a request cannot have, with pointers', async () => {
    lab = new Lab({ mb_enable: false, devices: [{}] });
    const names = async (body: unknown) =>
      ((await lab.call('PATCH', '/devices/0', body)).body.errors as Json[]).map(({ name }) => name);
    expect(await names({})).to.deep.equal(['']);
    expect(await names({ modbus: { port: 0 }, dnp3: { address: 65535 } })).to.have.members([
      '/modbus/port',
      '/dnp3/address',
    ]);
    expect(await names({ profile: 'Batt-LFP-100kW-3Phase', ocpp: { id: 'X' } })).to.include('/ocpp');
    expect(await names({ ocpp: { id: 'X' } })).to.deep.equal(['/ocpp']);
    expect((await lab.call('PATCH', '/devices/7', { name: 'X' })).status).to.equal(404);
    expect((await lab.call('PATCH', '/devices/0', { ocpp: { version: 'ocpp1.6j' } })).body.code).to.equal('disabled');
  });
});

describe('Another profile of a device', () => {
  let lab: Lab;
  afterEach(() => lab.app.stop());

  const battery = { device_type: 'Batt', name: 'Cellar' };

  it('another device takes the place: same index and name, registers, holds and history anew', async () => {
    lab = await Lab.start({ devices: [{}, battery, {}] });
    await lab.good('POST', '/grid-support/max-power?device=1', { enabled: true, limit_pct: 40 });
    await lab.good('POST', '/controls/holds?device=1', { id: 'h', values: { '704.WMaxLimPct': 30 }, duration_s: 60 });
    const former = lab.app.plant.device(1);
    const answer = await lab.change(1, { profile: 'Batt-LFP-100kW-3Phase' });
    expect([answer.device_restarted, answer.name, answer.device_index]).to.deep.equal([true, 'Cellar', 1]);
    const device = lab.app.plant.device(1);
    expect(device).not.to.equal(former);
    expect(lab.app.plant.devices.map(({ index }) => index)).to.deep.equal([0, 1, 2]);
    expect((await lab.good('GET', '/nameplate?device=1')).ratings.w_max_w).to.equal(100_000);
    expect((await lab.good('GET', '/grid-support/max-power?device=1')).enabled).to.equal(false);
    expect(await serialAt(answer.modbus.port)).to.equal(device.bank.map.m1.SN);
    expect((await lab.good('GET', '/controls/holds?device=1')).holds.map(({ reason }: Json) => reason)).to.deep.equal([
      'device_removed',
    ]);
    await lab.app.plant.step(1);
    expect(lab.app.plant.latest.published.map(({ snapshot }) => snapshot.device_index)).to.deep.equal([0, 1, 2]);
  });

  it('a profile that does not fit changes nothing, with pointers', async () => {
    lab = await Lab.start({ devices: [battery] });
    const former = lab.app.plant.device(0);
    const { status, body } = await lab.call('PATCH', '/devices/0', {
      name: 'X',
      profile: { battery: { capacity_wh: 9000, soc_pct: 50, soc_min_pct: 60 } },
    });
    expect([status, body.errors.every(({ name }: Json) => name.startsWith('/profile/battery'))]).to.deep.equal([
      422,
      true,
    ]);
    expect([lab.app.plant.device(0), former.name]).to.deep.equal([former, 'Cellar']);
  });

  it('an adapter that does not serve it: the former device goes on, with its registers and its faults', async () => {
    const port = await occupiedPort();
    lab = await Lab.start({ devices: [battery], dnp3_enable: true });
    await lab.good('POST', '/grid-support/max-power?device=0', { enabled: true, limit_pct: 40 });
    await lab.good('POST', '/faults', {
      inject: [{ protocol: 'modbus', kind: 'scale', factor: 2, points: ['701.W'], device: 0 }],
    });
    const former = lab.app.plant.device(0);
    const { status } = await lab.call('PATCH', '/devices/0', { profile: 'Batt-LFP-100kW-3Phase', dnp3: { port } });
    expect([status, lab.app.plant.device(0)]).to.deep.equal([409, former]);
    expect((await lab.good('GET', '/grid-support/max-power?device=0')).limit_pct).to.equal(40);
    expect(JSON.stringify(await lab.good('GET', '/faults'))).to.include('701.W');
    await lab.app.plant.step(1);
    const { modbus } = await lab.places(0);
    expect(await serialAt(modbus.port)).to.equal(serialOf(lab, 0));
    expect(lab.app.plant.latest.published.map(({ snapshot }) => snapshot.device_profile_name)).to.deep.equal([null]);
  });

  it('a file that lists devices keeps its other members', async () => {
    lab = new Lab({ mb_enable: false, devices: [{ count: 2, name: 'Roof', csip: { nmi: 'N' } }] });
    await lab.change(1, { profile: { models: { 702: { WMaxRtg: 7000, VAMaxRtg: 7000 } } } });
    const { devices } = await lab.good('GET', '/config');
    expect(devices.map(({ name, csip }: Json) => [name, csip])).to.deep.equal([
      ['Roof 1', { nmi: 'N' }],
      ['Roof 2', { nmi: 'N' }],
    ]);
  });
});

describe('Changes of devices with a state folder', () => {
  let path: string;
  let lab: Lab;
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'derbench-devices-'));
  });
  afterEach(async () => {
    await lab.app.stop();
    rmSync(path, { recursive: true });
  });
  const startIn = async (folder: TestFolder) => {
    const devices = [{ name: 'A' }, { device_type: 'Batt' }];
    lab = await Lab.start({ mb_enable: false, state_dir: path, devices }, folder);
  };

  it('survive an end of the process at any time after the answer', async () => {
    const folder = new TestFolder();
    await startIn(folder);
    await lab.change(0, { name: 'B', dnp3: { address: 99 }, csip: { nmi: 'N' } });
    await lab.change(1, { profile: 'Batt-LFP-100kW-3Phase' });
    const { body: added } = await lab.call('POST', '/devices', { name: 'C' });
    await lab.change(added.device_index, { modbus: { port: 45_999 } });
    const killed = folder.afterKill();
    await lab.app.stop();
    await startIn(killed);
    const { devices } = await lab.good('GET', '/config');
    expect(devices).to.deep.equal([
      { device_type: 'PV-3Phase', name: 'B', csip: { nmi: 'N' }, dnp3: { address: 99 } },
      { device_type: 'Batt', profile: 'Batt-LFP-100kW-3Phase' },
      { device_type: 'PV-3Phase', name: 'C', modbus: { port: 45_999 } },
    ]);
  });
});

describe('A process that ends while a device changes', () => {
  let path: string;
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'derbench-devices-'));
  });
  afterEach(() => rmSync(path, { recursive: true }));

  const start = (folder: TestFolder) =>
    Lab.start({ mb_enable: false, state_dir: path, devices: [{ device_type: 'Batt' }] }, folder);
  /** Profile and limit of the device. */
  const deviceOf = async (lab: Lab) => {
    const { device_profile_name: profile } = await lab.good('GET', '/devices/0');
    const { enabled } = await lab.good('GET', '/grid-support/max-power?device=0');
    return { profile, enabled };
  };

  it('leaves the former device with its registers, or the new one with its own', async () => {
    const folder = new TestFolder();
    const first = await start(folder);
    await first.good('POST', '/grid-support/max-power?device=0', { enabled: true, limit_pct: 40 });
    const moments = [folder.afterKill()];
    folder.beforeStep = () => {
      moments.push(folder.afterKill());
      return Promise.resolve();
    };
    await first.change(0, { profile: 'Batt-LFP-100kW-3Phase' });
    folder.beforeStep = () => Promise.resolve();
    moments.push(folder.afterKill());
    await first.app.stop();
    const seen: Json[] = [];
    for (const moment of moments) {
      const lab = await start(moment);
      seen.push(await deviceOf(lab));
      await lab.app.stop();
    }
    const [former, next] = [
      { profile: null, enabled: true },
      { profile: 'Batt-LFP-100kW-3Phase', enabled: false },
    ];
    expect(seen.at(0)).to.deep.equal(former);
    expect(seen.at(-1)).to.deep.equal(next);
    for (const each of seen) expect(each).to.deep.equal(each.profile === null ? former : next);
  });
});

describe('Random changes of devices', () => {
  const ports = fc.integer({ min: 0, max: 5 });
  const block = fc.record({ port: fc.option(ports, { nil: null }) });
  const step = fc.oneof(
    fc.record({ kind: fc.constant('patch' as const), at: fc.nat(5), modbus: fc.option(block, { nil: null }) }),
    fc.record({
      kind: fc.constant('patch' as const),
      at: fc.nat(5),
      modbus: fc.constant({}),
      profile: fc.constantFrom('10kW-3Phase', '5kW-1Phase-EU', null),
    }),
    fc.record({ kind: fc.constant('post' as const), modbus: block }),
    fc.record({ kind: fc.constant('delete' as const), at: fc.nat(5) }),
  );

  it('each device is reached exactly where GET says, and nothing else listens', async () => {
    const first = await freePorts(6);
    await holdsAsync(
      'changes of places',
      fc.array(step, { minLength: 3, maxLength: 8 }),
      async (steps) => {
        const lab = await Lab.start({ mb_port: first, devices: [{}, {}] });
        try {
          const portsOf = (modbus: Json) =>
            modbus === null ? null : { ...modbus, ...(modbus.port != null && { port: first + Number(modbus.port) }) };
          for (const each of steps) {
            const { devices } = lab.app.plant;
            const index = 'at' in each ? (devices[each.at % Math.max(1, devices.length)]?.index ?? 0) : 0;
            if (each.kind === 'delete') await lab.call('DELETE', `/devices/${index}`);
            else if (each.kind === 'post')
              await lab.call('POST', '/devices', each.modbus.port === null ? {} : { modbus: portsOf(each.modbus) });
            else
              await lab.call('PATCH', `/devices/${index}`, {
                modbus: portsOf(each.modbus),
                ...('profile' in each && { profile: each.profile }),
              });
          }
          const served = new Map<number, string>();
          for (const { index } of lab.app.plant.devices)
            served.set((await lab.places(index)).modbus.port, serialOf(lab, index));
          expect(served.size).to.equal(lab.app.plant.devices.length);
          for (let port = first; port < first + 6; port += 1)
            expect(await serialAt(port), `port ${port - first}`).to.equal(served.get(port) ?? null);
        } finally {
          await lab.app.stop();
        }
      },
      { runs: 10 },
    );
  });
});

describe('Identities of a device at a server of IEEE 2030.5', () => {
  it('an LFDI of its own behind an aggregator is the one that is registered', async () => {
    const site = await Site.open({
      types: ['PV-3Phase', 'PV-3Phase'],
      aggregator: true,
      flags: ['--csip_register', 'yes'],
      prepare(headEnd, [own = '']) {
        headEnd.register(own);
      },
    });
    try {
      const lfdi = 'AB'.repeat(20);
      const perform = async (method: string, path: string, body?: unknown) =>
        (await site.app.api.perform({ method, path, body, by: { source: 'rest' } })).body as Json;
      const registered = (wanted: string) => site.headEnd.endDevices.some((each) => each.lfdi === wanted);
      const { restarted, csip } = await perform('PATCH', '/devices/1', {
        csip: { lfdi: lfdi.toLowerCase(), nmi: 'N1' },
      });
      expect([restarted, csip]).to.deep.equal([['csip'], { lfdi, nmi: 'N1', pin_set: false }]);
      await site.until('the LFDI is registered', 120, () => (registered(lfdi) ? true : undefined));
      const { end_devices: all } = await perform('GET', '/csip/certificates?device=1');
      expect(all.map((each: Json) => [each.device_indices, each.lfdi])[1]).to.deep.equal([[1], lfdi]);
      const clash = await perform('PATCH', '/devices/0', { csip: { lfdi } });
      expect(clash.detail).to.equal(`device 1 has the LFDI ${lfdi}; give another one in csip.lfdi`);
    } finally {
      await site.close();
    }
  });
});
