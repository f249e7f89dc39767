/** Peers of all protocols at the daemon of a dashboard, so that its lists of messages have content. */
import { Buffer } from 'node:buffer';
import type { Dnp3Endpoint } from '../../src/core/adapter.ts';
import { HeadEnd } from '../csip/head-end/head-end.ts';
import { TestMaster } from '../dnp3/rig/master.ts';
import { Central } from '../ocpp/central/central.ts';
import type { Answer, Dashboard } from './dashboard.ts';
import { adu, RawClient, readRequest } from './modbus-client.ts';
import { modbusEndpoint } from './running-app.ts';

/** A poll, and a write of 600 % that is refused. */
async function askOverModbus(dashboard: Dashboard): Promise<void> {
  await dashboard.post('modbus/messages', { enabled: true });
  const master = await RawClient.open(modbusEndpoint(dashboard.app, 0).port);
  const { points } = await dashboard.get('registers/704?points=WMaxLimPct');
  await master.request(readRequest(1, 40_000, 2));
  await master.request(adu(2, 1, `06${points[0].address.toString(16)}ea60`));
  master.destroy();
}

/** A READ of class 0. */
async function askOverDnp3(dashboard: Dashboard): Promise<void> {
  await dashboard.post('dnp3/enable', { dnp3_port: 0 });
  await dashboard.post('dnp3/messages', { enabled: true });
  const { port, outstation } = dashboard.app.adapters
    .map((adapter) => adapter.endpointOf?.(0))
    .find((endpoint): endpoint is Dnp3Endpoint => endpoint?.protocol === 'dnp3') as Dnp3Endpoint;
  const master = await TestMaster.connect({ port, outstation, address: 4 });
  await master.request(1, Buffer.from('3c0106', 'hex'));
  await master.close();
}

/** A control of a program, which the client reads, follows and answers. */
async function joinHeadEnd(dashboard: Dashboard, headEnd: HeadEnd): Promise<void> {
  const { certificates } = await dashboard.get('certificates');
  const named = (name: string) => certificates.find((each: Answer) => each.name === name);
  headEnd.register(named('aggregator').lfdi);
  const program = headEnd.program({ default: { opModMaxLimW: 9500 } });
  await dashboard.post('csip/enable', {
    csip_identity: 'site',
    csip_cert: 'certificate:aggregator',
    csip_key: 'certificate:aggregator',
    csip_root_cert: 'certificate:root',
    csip_enc: false,
    csip_server_port: headEnd.port,
    csip_website_port: 0,
  });
  await dashboard.post('csip/messages', { enabled: true });
  const control = headEnd.control(program, { modes: { opModMaxLimW: 5000 } });
  await dashboard.post('csip/poll');
  await headEnd.response(control.mRID, 1);
}

/** A station that boots at its central system. */
async function joinCentral(dashboard: Dashboard, central: Central): Promise<void> {
  const { devices } = await dashboard.get('devices');
  const { charge_point_id: id } = devices.find((each: Answer) => each.charge_point_id !== null);
  await dashboard.post('ocpp/enable', { ocpp_csms_url: central.url });
  await central.station(id).next('StatusNotification');
}

/**
 * Switches all protocols on, and lets a peer of each say something. The daemon has certificates and a charging station.
 * @returns function that stops the peers, to be called after the simulator has stopped
 */
export async function joinPeers(dashboard: Dashboard): Promise<() => Promise<void>> {
  const [central, headEnd] = await Promise.all([
    Central.open({ wrong: () => undefined }),
    HeadEnd.open({ tls: null, nowMs: Date.now }),
  ]);
  const close = async () => {
    await Promise.all([central.close(), headEnd.close()]);
  };
  const joined = Promise.all([
    askOverModbus(dashboard),
    askOverDnp3(dashboard),
    joinHeadEnd(dashboard, headEnd),
    joinCentral(dashboard, central),
  ]);
  try {
    await joined;
  } catch (error) {
    await close();
    throw error;
  }
  return close;
}
