import { expect } from 'chai';
import { createNetworkProfiles } from '../../../../src/ocpp/v201/provisioning/network-profiles.ts';
import type { Requests } from '../../../../src/ocpp/v201/parts.ts';
import { createVariableHandlers } from '../../../../src/ocpp/v201/variables/handlers.ts';
import { fakeNetwork, storeRig, written } from '../variables/store-rig.ts';
import type { FakeNetwork, StoreRig } from '../variables/store-rig.ts';

type ConnectionData = Requests['SetNetworkProfile']['connectionData'];

const data = {
  ocppVersion: 'OCPP20',
  ocppInterface: 'Wired0',
  ocppTransport: 'JSON',
  messageTimeout: 20,
  ocppCsmsUrl: 'ws://second.example/ocpp/',
  securityProfile: 1,
} as const satisfies ConnectionData;

interface Options {
  readonly isAddressNew?: boolean;
  /** access in use when the version begins on an open connection: url of the settings, or of the profile of slot 1 */
  readonly during?: 'settings' | 'ws://second.example/ocpp' | 'ws://other.example';
  readonly version?: 'ocpp2.0.1' | 'ocpp2.1';
  readonly securityProfile?: 0 | 1 | 2 | 3;
  readonly base?: StoreRig;
  /** of another version of the same station */
  readonly network?: FakeNetwork;
  readonly ready?: readonly number[];
}

function made(options: Options = {}) {
  const { version = 'ocpp2.1', securityProfile = 1, base, ready = [1, 2, 3], isAddressNew = false, during } = options;
  const at = base ?? storeRig({ version, securityProfile });
  const scheme = securityProfile >= 2 ? 'wss' : 'ws';
  const settings = { url: `${scheme}://first.example`, securityProfile, password: Buffer.from('password-of-settings') };
  const { network = fakeNetwork(settings) } = options;
  network.isAddressNew = isAddressNew;
  if (during !== undefined) network.hasConnected = true;
  if (during !== undefined && during !== 'settings')
    network.setAccess({ ...network.access, url: during, guarded: true }, 1);
  network.done.length = 0;
  const told = { retargeted: 0 };
  const part = createNetworkProfiles(at.parts, {
    network,
    ready: (profile) => ready.includes(profile),
    retargeted: () => {
      told.retargeted += 1;
    },
  });
  const set = createVariableHandlers(at.parts, { store: at.variables, checks: part.checks });
  return {
    ...at,
    network,
    part,
    told,
    setSlot: async (slot: number, name: string, attributeValue: string) => {
      const { setVariableResult } = await at.ask(set, 'SetVariables', {
        setVariableData: [
          { component: { name: 'NetworkConfiguration', instance: String(slot) }, variable: { name }, attributeValue },
        ],
      });
      const [result] = setVariableResult;
      return result?.attributeStatusInfo?.reasonCode ?? result?.attributeStatus;
    },
    fill: async (slot: number, change: Partial<ConnectionData> = {}) => {
      const { status, statusInfo } = await at.ask(part, 'SetNetworkProfile', {
        configurationSlot: slot,
        connectionData: { ...data, ...change },
      });
      return statusInfo === undefined ? status : statusInfo.reasonCode;
    },
    prefer: async (order: string) => {
      const { setVariableResult } = await at.ask(set, 'SetVariables', {
        setVariableData: [
          {
            component: { name: 'OCPPCommCtrlr' },
            variable: { name: 'NetworkConfigurationPriority' },
            attributeValue: order,
          },
        ],
      });
      const [result] = setVariableResult;
      return result?.attributeStatusInfo?.reasonCode ?? result?.attributeStatus;
    },
    restart: () => {
      at.variables.restarted();
      part.restarted();
    },
    fail: (times: number) => {
      for (let i = 0; i < times; i++) part.failed(false);
    },
  };
}

describe('OCPP 2.x B09 SetNetworkProfile', () => {
  for (const version of ['ocpp2.0.1', 'ocpp2.1'] as const)
    it(`takes what the station can do, and nothing else (${version})`, async () => {
      const { fill } = made({ version });
      expect(await fill(1)).to.equal('Accepted');
      expect(await fill(0)).to.equal('Accepted');
      expect(await fill(4)).to.equal('InvalidConfSlot');
      expect(await fill(1, { ocppTransport: 'SOAP' })).to.equal('InvalidNetworkConf');
      expect(await fill(1, { ocppInterface: 'Wireless0' })).to.equal('InvalidNetworkConf');
      expect(await fill(1, { ocppCsmsUrl: 'http://second.example' })).to.equal('InvalidNetworkConf');
      expect(await fill(1, { ocppCsmsUrl: 'ws://user:word@second.example' })).to.equal('InvalidNetworkConf');
      expect(await fill(1, { ocppCsmsUrl: 'ws://169.254.169.254/' })).to.equal('InvalidNetworkConf');
      expect(await fill(1, { securityProfile: 2 })).to.equal('InvalidNetworkConf');
      expect(await fill(1, { securityProfile: 4 })).to.equal('InvalidNetworkConf');
      expect(await fill(1, { messageTimeout: 0 })).to.equal('InvalidNetworkConf');
      expect(await fill(1, { apn: { apn: 'internet', apnAuthentication: 'NONE' } })).to.equal('InvalidNetworkConf');
      expect(await fill(1, { vpn: { server: 's', user: 'u', password: 'p', key: 'k', type: 'IPSec' } })).to.equal(
        'InvalidNetworkConf',
      );
      expect(await fill(1, { securityProfile: 0 })).to.equal('NoSecurityDowngrade');
    });

  it('refuses another version in 2.0.1, and ignores the member in 2.1', async () => {
    expect(await made({ version: 'ocpp2.0.1' }).fill(1, { ocppVersion: 'OCPP16' })).to.equal('InvalidNetworkConf');
    expect(await made({ version: 'ocpp2.1' }).fill(1, { ocppVersion: 'OCPP16' })).to.equal('Accepted');
  });

  it('takes a password of its own in 2.1, and no other identity', async () => {
    const { fill } = made();
    expect(await fill(1, { basicAuthPassword: 'short' })).to.equal('InvalidNetworkConf');
    expect(await fill(1, { basicAuthPassword: 'a-password-of-the-slot' })).to.equal('Accepted');
    expect(await fill(1, { identity: 'CS-1' })).to.equal('Accepted');
    expect(await fill(1, { identity: 'CS-2' })).to.equal('InvalidNetworkConf');
  });

  it('lowers the security profile only from 3 to 2, and only where the variable allows it (A05)', async () => {
    const { fill, variables } = made({ securityProfile: 3 });
    const wss = { ocppCsmsUrl: 'wss://second.example', securityProfile: 2 } as const;
    expect(await fill(1, wss)).to.equal('NoSecurityDowngrade');
    variables.set('SecurityCtrlr', 'AllowSecurityProfileDowngrade', 'true');
    expect(await fill(1, wss)).to.equal('Accepted');
    expect(await fill(1)).to.equal('NoSecurityDowngrade');
  });

  it('tells of it as an event of security, and shows slots in NetworkConfiguration', async () => {
    const { fill, raised, variables } = made();
    await fill(2, { basicAuthPassword: 'a-password-of-the-slot' });
    expect(raised).to.deep.equal([['ReconfigurationOfSecurityParameters', 'network profile in slot 2']]);
    expect(variables.text('NetworkConfiguration[2]', 'OcppCsmsUrl')).to.equal('ws://second.example/ocpp');
    expect(variables.text('NetworkConfiguration[2]', 'MessageTimeout')).to.equal('20');
    expect(variables.text('NetworkConfiguration[0]', 'OcppCsmsUrl')).to.equal('ws://first.example');
    expect(variables.text('NetworkConfiguration[3]', 'OcppCsmsUrl')).to.equal('');
  });
});

describe('OCPP 2.x B10 the way to another central system', () => {
  it('takes a priority of filled slots whose means are there', async () => {
    const { fill, prefer } = made({ ready: [1] });
    expect(await prefer('1,0')).to.equal('InvalidNetworkConf');
    await fill(1);
    await fill(2, { ocppCsmsUrl: 'wss://second.example', securityProfile: 2 });
    expect(await prefer('1,0')).to.equal('RebootRequired');
    expect(await prefer('2,0')).to.equal('InvalidNetworkConf');
    expect(await prefer('')).to.equal('InvalidValue');
    expect(await prefer('1,1')).to.equal('InvalidValue');
  });

  it('goes to the first profile with the restart, guarded, with its time-out', async () => {
    const { fill, prefer, restart, network, told, variables } = made();
    await fill(1, { basicAuthPassword: 'a-password-of-the-slot' });
    await prefer('1,0');
    expect(network.done).to.deep.equal([]);
    restart();
    expect(network.access).to.deep.equal({
      url: 'ws://second.example/ocpp',
      guarded: true,
      securityProfile: 1,
      password: Buffer.from('a-password-of-the-slot'),
    });
    expect(variables.text('OCPPCommCtrlr', 'ActiveNetworkProfile')).to.equal('1');
    expect(variables.integer('OCPPCommCtrlr', 'MessageTimeout[Default]')).to.equal(20);
    expect(told.retargeted).to.equal(0);
    restart();
    expect(network.done).to.have.lengthOf(1);
  });

  it('falls back to the next one after so many attempts, round and round', async () => {
    const { fill, prefer, restart, fail, network, part, told } = made();
    await fill(1);
    await prefer('1,0');
    restart();
    fail(2);
    part.opened();
    fail(2);
    expect(network.access.url).to.equal('ws://second.example/ocpp');
    fail(1);
    expect(network.access).to.deep.include({ url: 'ws://first.example', guarded: false });
    expect(network.access.password?.toString()).to.equal('password-of-settings');
    fail(3);
    expect(network.access.url).to.equal('ws://second.example/ocpp');
    expect(told.retargeted).to.equal(2);
  });

  it('tries the former credentials at the same address before the next one', async () => {
    const { fill, prefer, restart, fail, network, part, variables } = made();
    await fill(1);
    await prefer('1,0');
    restart();
    variables.set('OCPPCommCtrlr', 'NetworkProfileConnectionAttempts', '1');
    part.failed(true);
    expect(network.access.url).to.equal('ws://second.example/ocpp');
    fail(1);
    expect(network.access.url).to.equal('ws://first.example');
  });

  it('stays where there is one profile alone', () => {
    const { fail, network } = made();
    fail(20);
    expect(network.done).to.deep.equal([]);
  });

  it('gives up profiles of lower security once the higher one is accepted (A05.FR.06)', async () => {
    const { fill, prefer, restart, registration, network, variables } = made();
    await fill(1, { ocppCsmsUrl: 'wss://second.example', securityProfile: 2 });
    await fill(2);
    await prefer('1,2,0');
    restart();
    expect(network.access.securityProfile).to.equal(2);
    expect(variables.text('OCPPCommCtrlr', 'NetworkConfigurationPriority')).to.equal('1,2,0');
    registration.accept({ booted: true });
    expect(variables.text('OCPPCommCtrlr', 'NetworkConfigurationPriority')).to.equal('1');
    expect(variables.text('NetworkConfiguration[2]', 'OcppCsmsUrl')).to.equal('');
    expect(await prefer('0')).to.equal('NoSecurityDowngrade');
  });

  it('uses the password of SecurityCtrlr where the slot has none, also when it is set later (B09.FR.27)', async () => {
    const { fill, prefer, restart, network, variables } = made();
    await fill(1, { basicAuthPassword: 'a-password-of-the-slot' });
    await prefer('1');
    restart();
    variables.set('SecurityCtrlr', 'BasicAuthPassword', 'the-password-of-all');
    network.password = Buffer.from('the-password-of-all');
    restart();
    expect(network.access.password?.toString()).to.equal('the-password-of-all');
  });

  it('begins with the first profile after the process has started again', async () => {
    const first = made();
    await first.fill(1, { basicAuthPassword: 'a-password-of-the-slot' });
    await first.prefer('1,0');
    await written();
    first.part.stop();
    const base = storeRig();
    for (const name of ['variables', 'network-variables', 'network-profiles'])
      await base.store.slot(name).replace(await first.store.slot(name).read());
    await base.store.slot('network-profiles').append([9, {}], [2, { url: 7 }], 'x');
    await base.variables.load();
    const later = made({ base });
    await later.part.load();
    expect(later.network.access).to.deep.include({ url: 'ws://second.example/ocpp', guarded: true });
    expect(later.network.access.password?.toString()).to.equal('a-password-of-the-slot');
    expect(later.told.retargeted).to.equal(0);
    later.fail(3);
    expect(later.network.access.url).to.equal('ws://first.example');
  });

  it('a version that begins on an open connection leaves the profile in use as it is, and knows the settings', async () => {
    const first = made();
    await first.fill(1);
    await first.fill(2, { messageTimeout: 7 });
    await first.prefer('1,2,0');
    first.restart();
    first.fail(3);
    expect(first.variables.text('OCPPCommCtrlr', 'ActiveNetworkProfile')).to.equal('2');
    await written();
    first.part.stop();
    const base = storeRig({ version: 'ocpp2.0.1' });
    // slots that versions of 2.x share
    for (const name of ['network-variables', 'network-profiles'])
      await base.store.slot(name).replace(await first.store.slot(name).read());
    await base.variables.load();
    first.network.hasConnected = true;
    const next = made({ base, version: 'ocpp2.0.1', network: first.network });
    await next.part.load();
    const text = (variable: string) => next.variables.text('OCPPCommCtrlr', variable);
    expect(first.network.done).to.deep.equal([]);
    expect(['ActiveNetworkProfile', 'MessageTimeout[Default]', 'NetworkConfigurationPriority'].map(text)).to.deep.equal(
      ['2', '7', '1,2,0'],
    );
    next.fail(3);
    expect(first.network.access.url).to.equal('ws://first.example');
    next.restart();
    expect(first.network.access.url).to.equal('ws://second.example/ocpp');
  });

  it('takes a target of the user for the settings', async () => {
    const { fill, prefer, restart, part, network, variables, fail } = made();
    await fill(1);
    await prefer('1,0');
    restart();
    network.isAddressNew = true;
    part.targetSet();
    expect(network.isAddressNew).to.equal(false);
    network.give('ws://user.example');
    expect(variables.text('OCPPCommCtrlr', 'ActiveNetworkProfile')).to.equal('0');
    expect(variables.text('OCPPCommCtrlr', 'NetworkConfigurationPriority')).to.equal('0,1');
    restart();
    expect(network.access.url).to.equal('ws://user.example');
    fail(3);
    expect(network.access.url).to.equal('ws://second.example/ocpp');
    fail(3);
    expect(network.access.url).to.equal('ws://user.example');
  });
});

describe('OCPP 2.x B10: the address of the user', () => {
  it('is the last resort where the priority lacks it, also where slot 0 has a profile', async () => {
    for (const slot of [1, 0]) {
      const { fill, prefer, restart, fail, network, told, variables } = made();
      // of the profile, which has none of its own
      network.password = Buffer.from('password-of-central');
      await fill(slot);
      await prefer(String(slot));
      restart();
      expect(network.access.url).to.equal('ws://second.example/ocpp');
      fail(3);
      expect(network.access).to.deep.include({ url: 'ws://first.example', guarded: false });
      expect(network.access.password?.toString()).to.equal('password-of-settings');
      expect(variables.text('OCPPCommCtrlr', 'ActiveNetworkProfile')).to.equal('0');
      fail(3);
      expect(network.access.url).to.equal('ws://second.example/ocpp');
      expect(told.retargeted).to.equal(2);
      // the priority is that of the central system
      fail(3);
      restart();
      expect(network.access.url).to.equal('ws://second.example/ocpp');
    }
  });

  it('is no resort with a lower security profile than the one tried (A05)', async () => {
    const { fill, prefer, restart, fail, network } = made();
    await fill(1, { ocppCsmsUrl: 'wss://second.example', securityProfile: 2 });
    await prefer('1');
    restart();
    fail(20);
    expect(network.access.url).to.equal('wss://second.example');
    expect(network.done).to.have.lengthOf(1);
  });

  /** A version with what an earlier one has left. */
  const heir = async (store: StoreRig['store']) => {
    await written();
    const base = storeRig();
    for (const name of ['network-variables', 'network-profiles'])
      await base.store.slot(name).replace(await store.slot(name).read());
    await base.variables.load();
    return base;
  };

  /** A version that begins with slot 1 first, as an earlier one has left it. */
  const later = async (options: Options) => {
    const first = made();
    await first.fill(1);
    await first.prefer('1');
    const rig = made({ ...options, base: await heir(first.store) });
    await rig.part.load();
    return rig;
  };

  it('stays when a version takes over; its priority counts with a restart or failures', async () => {
    const { network, restart, fail } = await later({ during: 'settings' });
    expect(network.done).to.deep.equal([]);
    restart();
    expect(network.access.url).to.equal('ws://second.example/ocpp');
    const other = await later({ during: 'settings' });
    other.fail(3);
    expect(other.network.access.url).to.equal('ws://second.example/ocpp');
    fail(3);
    expect(network.access.url).to.equal('ws://first.example');
  });

  it('a network profile in use stays when its version takes over again', async () => {
    const { network, variables, fail } = await later({ during: 'ws://second.example/ocpp' });
    expect(network.done).to.deep.equal([]);
    expect(variables.text('OCPPCommCtrlr', 'ActiveNetworkProfile')).to.equal('1');
    expect(variables.integer('OCPPCommCtrlr', 'MessageTimeout[Default]')).to.equal(20);
    fail(3);
    expect(network.access).to.deep.include({ url: 'ws://first.example', guarded: false });
  });

  it('a network profile whose slot has another address now does not stay', async () => {
    const { network } = await later({ during: 'ws://other.example' });
    expect(network.access.url).to.equal('ws://second.example/ocpp');
  });

  it('a security profile that 1.6 has raised at the address of a network profile stays (A05)', async () => {
    const network = fakeNetwork();
    network.setAccess({ ...network.access, url: 'ws://second.example/ocpp', securityProfile: 2 }, 1);
    network.hasConnected = true;
    const { variables, registration, restart, fail, store } = await later({ network });
    registration.accept({ booted: true });
    restart();
    fail(20);
    expect(network.done).to.deep.equal([]);
    const text = (variable: string) => variables.text('OCPPCommCtrlr', variable);
    expect(['ActiveNetworkProfile', 'NetworkConfigurationPriority'].map(text)).to.deep.equal(['1', '1']);
    const member = (name: string) => variables.text('NetworkConfiguration[1]', name);
    expect(['OcppCsmsUrl', 'SecurityProfile'].map(member)).to.deep.equal(['wss://second.example/ocpp', '2']);
    const next = made({ base: await heir(store), network });
    await next.part.load();
    expect(network.done).to.deep.equal([]);
  });

  it('the slot of a raised security profile takes the place of lower ones in the priority (A05.FR.06)', async () => {
    const { fill, prefer, restart, registration, network, variables } = made();
    await fill(1);
    await prefer('1');
    restart();
    variables.set('OCPPCommCtrlr', 'NetworkConfigurationPriority', '0');
    network.access = { ...network.access, securityProfile: 2 };
    registration.accept({ booted: true });
    expect(variables.text('OCPPCommCtrlr', 'NetworkConfigurationPriority')).to.equal('1');
    restart();
    expect(network.access).to.deep.include({ url: 'ws://second.example/ocpp', securityProfile: 2 });
  });

  it('does not follow a network profile whose slot is empty with a lower security profile (A05)', async () => {
    for (const begin of [
      ({ restart }: ReturnType<typeof made>) => {
        restart();
        return Promise.resolve();
      },
      ({ part }: ReturnType<typeof made>) => part.load(),
    ]) {
      const network = fakeNetwork();
      network.setAccess({ ...network.access, url: 'wss://second.example', securityProfile: 2 }, 1);
      const rig = made({ network });
      rig.variables.set('OCPPCommCtrlr', 'NetworkConfigurationPriority', '1');
      await begin(rig);
      rig.fail(20);
      expect(network.done).to.deep.equal([]);
    }
  });

  it('comes first where it was given since the version was at work', async () => {
    const { network, restart, variables } = await later({ during: 'settings', isAddressNew: true });
    expect(variables.text('OCPPCommCtrlr', 'NetworkConfigurationPriority')).to.equal('0,1');
    restart();
    expect(network.done).to.deep.equal([]);
  });
});

describe('OCPP 2.1 B09 NetworkConfiguration', () => {
  it('fills a slot variable by variable, and the slot counts with its address', async () => {
    const { setSlot, prefer, restart, network } = made();
    expect(await setSlot(2, 'BasicAuthPassword', 'a-password-of-the-slot')).to.equal('Accepted');
    expect(await prefer('2,0')).to.equal('InvalidNetworkConf');
    expect(await setSlot(2, 'OcppCsmsUrl', 'wss://second.example/')).to.equal('Accepted');
    expect(await prefer('2,0')).to.equal('InvalidNetworkConf');
    expect(await setSlot(2, 'SecurityProfile', '2')).to.equal('Accepted');
    expect(await setSlot(2, 'MessageTimeout', '12')).to.equal('Accepted');
    expect(await prefer('2,0')).to.equal('RebootRequired');
    restart();
    expect(network.access).to.deep.equal({
      url: 'wss://second.example',
      guarded: true,
      securityProfile: 2,
      password: Buffer.from('a-password-of-the-slot'),
    });
  });

  it('refuses a slot of the priority, a downgrade, and what is wrong', async () => {
    const { setSlot, fill, prefer, restart } = made({ securityProfile: 2 });
    expect(await setSlot(0, 'MessageTimeout', '12')).to.equal('PriorityNetworkConf');
    expect(await setSlot(1, 'SecurityProfile', '1')).to.equal('NoSecurityDowngrade');
    expect(await setSlot(1, 'OcppCsmsUrl', 'http://second.example')).to.equal('InvalidNetworkConf');
    expect(await setSlot(1, 'OcppCsmsUrl', 'ws://169.254.169.254')).to.equal('InvalidNetworkConf');
    expect(await setSlot(1, 'OcppInterface', 'Wireless0')).to.equal('InvalidValue');
    expect(await setSlot(1, 'OcppTransport', 'JSON')).to.equal('ReadOnly');
    await fill(1, { ocppCsmsUrl: 'wss://second.example', securityProfile: 2 });
    await prefer('1,0');
    restart();
    expect(await setSlot(1, 'MessageTimeout', '12')).to.equal('PriorityNetworkConf');
  });
});
