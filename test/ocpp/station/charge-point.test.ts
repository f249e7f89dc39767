import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { silentLogger } from '../../../src/core/log/log.ts';
import type { Credentials } from '../../../src/ocpp/rpc/credentials.ts';
import { createAuthority } from '../../support/pki.ts';
import type { Authority } from '../../support/pki.ts';
import type { Central } from '../central/central.ts';
import { noCredentials, openCentral } from '../rpc/rig.ts';
import { StationRig } from './rig.ts';

const password = Buffer.from('sixteen octets, or more');

describe('a charge point on its line', () => {
  let central: Central;
  let rig: StationRig;
  const open = async (credentials: Partial<Credentials> = {}) => {
    rig = new StationRig(central.url, { credentials: { ...noCredentials, ...credentials } });
    rig.station.begin();
    await rig.until('opened ocpp1.6');
  };
  beforeEach(async () => {
    central = await openCentral();
  });
  afterEach(async () => {
    await rig.station.stop();
    await central.close();
  });

  describe('alarm ocpp_connection_lost', () => {
    it('stands while a connection that the other side has ended is away', async () => {
      await open();
      central.station('CP-1').cut();
      await rig.until('closed 1006');
      expect(rig.alarms).to.deep.equal(['end', 'ocpp_connection_lost CP-1: the connection has ended']);
      rig.passWait();
      await rig.until('opened ocpp1.6');
      expect(rig.alarms.at(-1)).to.equal('end');
    });

    it('is not raised by a restart, and not by a connection with a new password', async () => {
      await open({ securityProfile: 1, password });
      rig.parts.connection.restart('Reset Soft of the central system');
      await rig.until('closed 1001');
      rig.passWait();
      await rig.until('opened ocpp1.6');
      rig.parts.connection.setPassword(Buffer.from('another-password-of-24-b'));
      rig.parts.connection.reconnect('AuthorizationKey was changed');
      await rig.until('opened ocpp1.6');
      expect(rig.alarms).to.deep.equal(['end']);
    });

    it('is not raised by new credentials that fail while the former ones connect', async () => {
      await open({ securityProfile: 1, password });
      central.admit = (_, given) => (given?.equals(password) === true ? null : 401);
      rig.parts.connection.setPassword(Buffer.from('another-password-of-24-b'));
      rig.parts.connection.reconnect('AuthorizationKey was changed');
      await rig.until('failed rejected');
      await rig.until('opened ocpp1.6');
      expect(rig.alarms).to.deep.equal(['end']);
    });

    it('is raised when the station does not come back after a restart', async () => {
      await open();
      central.admit = () => 503;
      rig.parts.connection.restart('Reset Hard of the central system');
      await rig.until('closed 1001');
      expect(rig.alarms).to.deep.equal(['end']);
      rig.passWait();
      await rig.until('failed rejected');
      expect(rig.alarms).to.have.lengthOf(2);
      expect(rig.alarms[1]).to.match(/^ocpp_connection_lost CP-1: /);
    });

    it('is not raised for a station that has never been connected, nor after a disconnect over REST', async () => {
      central.admit = () => 503;
      rig = new StationRig(central.url);
      rig.station.begin();
      await rig.until('failed rejected');
      expect(rig.alarms).to.deep.equal([]);
      central.admit = () => null;
      rig.passWait();
      await rig.until('opened ocpp1.6');
      rig.station.disconnect(1000);
      await rig.until('closed 1000');
      expect(rig.alarms).to.deep.equal(['end']);
    });
  });

  describe('the scheme of the endpoint follows the security profile', () => {
    let ca: Authority;
    before(async () => {
      ca = await createAuthority('Test CA');
    });
    const secure = () => central.url.replace('ws:', 'wss:');

    it('a profile that is raised shows wss, and ws again when it fails', async () => {
      await open({ securityProfile: 1, password, rootCert: ca.cert });
      expect(rig.station.status).to.include({ url: central.url, securityProfile: 1 });
      rig.parts.connection.setSecurityProfile(2);
      rig.parts.connection.reconnect('SecurityProfile was changed');
      expect(rig.station.status).to.include({ url: secure(), securityProfile: 2 });
      // the central system of this test has no TLS
      await rig.until('failed tls');
      await rig.until('opened ocpp1.6');
      expect(rig.station.status).to.include({ url: central.url, securityProfile: 1 });
    });

    it('connect takes a raised profile as it is, and refuses an endpoint of another transport', async () => {
      await open({ securityProfile: 1, password, rootCert: ca.cert });
      rig.parts.connection.setSecurityProfile(2);
      rig.station.connect({});
      expect(rig.station.status).to.include({ url: secure(), securityProfile: 2 });
      expect(() => {
        rig.station.connect({ url: central.url });
      }).to.throw('url: security profile 2 needs wss');
      rig.station.connect({ securityProfile: 1 });
      expect(rig.station.status.url).to.equal(central.url);
    });

    it('a profile is there for those that have its means (white paper A05)', async () => {
      await open({ password });
      const { ready } = rig.parts;
      expect([ready(1), ready(2), ready(3)]).to.deep.equal([true, false, false]);
      rig.parts.connection.setCertificates({ rootCert: ca.cert });
      expect([ready(1), ready(2), ready(3)]).to.deep.equal([true, true, false]);
    });
  });

  it('a connection on which the station was never accepted does not begin the waits anew', async () => {
    const waits: number[] = [];
    /** A connection that brings a frame and is cut. */
    const cut = async () => {
      const station = central.station('CP-1');
      expect((await station.call('ClearCache')).kind).to.equal('result');
      station.cut();
      await rig.until('closed 1006');
      waits.push(rig.station.status.reconnectInS ?? NaN);
      rig.passWait();
      await rig.until('opened ocpp1.6');
    };
    rig = new StationRig(central.url);
    rig.bootStatus = 'pending';
    rig.station.begin();
    await rig.until('opened ocpp1.6');
    for (let times = 0; times < 3; times += 1) await cut();
    rig.bootStatus = 'accepted';
    await cut();
    expect(waits[0]).to.be.within(1, 2);
    expect(waits[1]).to.be.within(2, 5);
    expect(waits[2]).to.be.within(4, 11);
    expect(waits[3]).to.be.within(1, 2);
  });

  describe('connect and credentials on trial', () => {
    const next = Buffer.from('another-password-of-24-b');
    const given = 'a-third-password-of-24-b';
    const admitting = (octets: Buffer) => {
      central.admit = (_, shown) => (shown?.equals(octets) === true ? null : 401);
    };

    it('without a password the trial goes on, and the former ones return when it fails', async () => {
      await open({ securityProfile: 1, password });
      admitting(password);
      rig.parts.connection.setPassword(next);
      rig.station.connect({});
      await rig.until('failed rejected');
      expect(rig.reverted).to.deep.equal([true]);
      await rig.until('restore null');
      await rig.until('opened ocpp1.6');
      expect(rig.parts.network.access.password).to.deep.equal(password);
      expect(rig.parts.network.password).to.equal(null);
    });

    it('without a password a trial that succeeds is for good', async () => {
      await open({ securityProfile: 1, password });
      admitting(next);
      rig.parts.connection.setPassword(next);
      rig.station.connect({ url: central.url });
      await rig.until('opened ocpp1.6');
      expect(rig.parts.network.settings.password).to.deep.equal(next);
      expect(rig.parts.network.password).to.deep.equal(next);
    });

    it('a password that is given is for good, and a security profile on trial stays on trial', async () => {
      const ca = await createAuthority('Test CA');
      await open({ securityProfile: 1, password, rootCert: ca.cert });
      admitting(Buffer.from(given));
      rig.parts.connection.setSecurityProfile(2);
      rig.station.connect({ password: given });
      // the central system of this test has no TLS
      await rig.until('failed tls');
      await rig.until('restore null');
      await rig.until('opened ocpp1.6');
      expect(rig.parts.network.access.password?.toString()).to.equal(given);
      expect(rig.station.status).to.include({ url: central.url, securityProfile: 1 });
    });

    it('a network profile leaves a password on trial, and the settings keep the one before it', async () => {
      await open({ securityProfile: 1, password });
      admitting(password);
      const { network, connection } = rig.parts;
      connection.setPassword(next);
      const url = `${central.url}/profile`;
      network.setAccess({ ...network.access, url }, 1);
      expect(network.settings).to.deep.include({ url: central.url, password });
      connection.reconnect('another network profile');
      await rig.until('restore null');
      await rig.until('opened ocpp1.6');
      expect(network.access).to.deep.include({ url, password });
      expect([network.slot, network.password]).to.deep.equal([1, null]);
      network.setAccess(network.settings, null);
      expect([network.access.url, network.slot]).to.deep.equal([central.url, null]);
    });

    it('a password that is given replaces the learnt one, also after a round through a network profile', async () => {
      await open({ securityProfile: 1, password });
      const { network, connection } = rig.parts;
      connection.setPassword(next);
      connection.reconnect('a new password');
      await rig.until('opened ocpp1.6');
      rig.station.connect({ password: given });
      await rig.until('opened ocpp1.6');
      const octets = Buffer.from(given);
      expect([network.password, connection.password]).to.deep.equal([octets, octets]);
      network.setAccess({ ...network.access, url: `${central.url}/profile` }, 1);
      network.setAccess(network.settings, null);
      expect(network.access.password).to.deep.equal(octets);
      // one that is refused leaves the one given
      admitting(octets);
      connection.setPassword(next);
      connection.reconnect('the former password');
      await rig.until('restore null');
      await rig.until('opened ocpp1.6');
      expect([network.password, network.access.password]).to.deep.equal([octets, octets]);
    });

    it('a refused security profile leaves the password of a network profile apart from that of the station', async () => {
      const ca = await createAuthority('Test CA');
      await open({ securityProfile: 1, password, rootCert: ca.cert });
      const { network, connection } = rig.parts;
      network.setAccess({ ...network.access, url: `${central.url}/profile`, password: next }, 1);
      connection.setSecurityProfile(2);
      connection.reconnect('a raised security profile');
      // the central system of this test has no TLS
      await rig.until('failed tls');
      await rig.until('restore null');
      await rig.until('opened ocpp1.6');
      expect(network.access).to.deep.include({ securityProfile: 1, password: next });
      expect(network.password).to.equal(null);
    });

    it('a password that is given ends the trial of another one', async () => {
      await open({ securityProfile: 1, password });
      admitting(password);
      rig.parts.connection.setPassword(next);
      rig.station.connect({ password: given });
      await rig.until('failed rejected');
      rig.passWait();
      await rig.until('failed rejected');
      expect(rig.told).to.deep.equal([]);
      expect(rig.reverted).to.deep.equal([false, false]);
    });
  });

  it('an answer that a central system of 2.1 could not use is in the log', async () => {
    central.subprotocols = ['ocpp2.1'];
    const lines: string[] = [];
    const log = { ...silentLogger, warning: (line: string) => lines.push(line) };
    rig = new StationRig(central.url, { log }, ['ocpp2.1']);
    rig.station.begin();
    await rig.until('opened ocpp2.1');
    central.station('CP-1').connection.socket.send('[5,"id-7","FormatViolation","",{}]');
    for (let turns = 0; lines.length === 0 && turns < 20_000; turns += 1) await nextTurn();
    expect(lines).to.deep.equal(['CP-1: the central system could not use the answer id-7: FormatViolation']);
  });

  describe('leaving', () => {
    it('waits for the last messages, then closes', async () => {
      await open();
      const left = rig.station.leave();
      expect(rig.told).to.deep.equal(['leave']);
      rig.delivered();
      await left;
      expect(rig.told).to.deep.equal(['leave', 'stop', 'closed 1001']);
      expect(rig.station.status.connectionState).to.equal('disconnected');
    });

    it('waits 3 s at most', async () => {
      await open();
      const left = rig.station.leave();
      rig.timers.pass(2999);
      expect(rig.told).to.deep.equal(['leave']);
      rig.timers.pass(1);
      await left;
      expect(rig.told).to.deep.equal(['leave', 'stop', 'closed 1001']);
    });
  });
});
