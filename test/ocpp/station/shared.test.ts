/** Facts of a station that its versions share: what one of them has kept is what the next one reads. */
import { expect } from 'chai';
import { createMemoryStore } from '../../../src/core/store.ts';
import type { Store } from '../../../src/core/store.ts';
import { stationSlots } from '../../../src/ocpp/station/stack.ts';
import { createCertificates as createCertificates16 } from '../../../src/ocpp/v16/security.ts';
import { createAuthority } from '../../support/pki.ts';
import type { Authority } from '../../support/pki.ts';
import { rig, settled } from '../v16/fakes.ts';
import { accepted, content } from '../v16/firmware-management/firmware-rig.ts';
import { upkeepRig } from '../v16/firmware-management/rig.ts';
import { certificatesOn } from '../v201/security/certificates-rig.ts';
import { firmwareOn } from '../v201/firmware-management/firmware-rig.ts';
import { signRequest } from '../v16/security/signing.ts';

/** The store as a version has it: the slots of the station, and its own. */
function ofVersion(store: Store, version: string): Store {
  return {
    slot: (name) => store.slot(stationSlots.has(name) ? name : `${version}/${name}`),
    durable: () => null,
  };
}

const files = { rootCert: null, ownCert: null };

describe('facts of a station that its versions share', () => {
  describe('certificates', () => {
    let store: Store;
    let root: Authority;
    let v2g: Authority;
    before(async () => {
      [root, v2g] = await Promise.all([createAuthority('Root'), createAuthority('V2G')]);
    });
    beforeEach(() => {
      store = createMemoryStore();
    });

    const begin16 = async () => {
      const s = upkeepRig({ ...rig(), store: ofVersion(store, 'ocpp1.6') });
      s.clock.sync(Math.max(Date.now(), s.clock.nowMs()), s.wall.monotonicMs());
      const part = createCertificates16(s.parts, files);
      await part.load?.();
      const install = async (certificateType: 'CentralSystemRootCertificate' | 'ManufacturerRootCertificate') =>
        await part.handlers.InstallCertificate?.({ certificateType, certificate: root.cert }, s.after);
      return { ...s, part, install, uses: () => part.entries.map(({ use }) => use) };
    };
    const begin2 = async (version: 'ocpp2.0.1' | 'ocpp2.1') => {
      const s = await certificatesOn({ version, store: ofVersion(store, version), v2g: true });
      return { ...s, uses: () => s.part.entries.map(({ use }) => use) };
    };

    it('roots of central systems and manufacturers have the name of the version that is spoken', async () => {
      const first = await begin16();
      expect(await first.install('CentralSystemRootCertificate')).to.deep.equal({ status: 'Accepted' });
      expect(await first.install('ManufacturerRootCertificate')).to.deep.equal({ status: 'Accepted' });
      await settled();
      const second = await begin2('ocpp2.0.1');
      expect(second.uses()).to.deep.equal(['CSMSRootCertificate', 'ManufacturerRootCertificate']);
      expect(second.given.map(({ rootCert }) => typeof rootCert)).to.deep.equal(['string']);
      expect((await second.ids('CSMSRootCertificate')).status).to.equal('Accepted');
      const third = await begin16();
      expect(third.uses()).to.deep.equal(['CentralSystemRootCertificate', 'ManufacturerRootCertificate']);
    });

    it('those that a version has no name for stay for the versions that have one', async () => {
      const first = await begin2('ocpp2.1');
      await first.install(v2g.cert, 'V2GRootCertificate');
      await first.install(v2g.cert, 'OEMRootCertificate');
      await settled();
      const second = await begin16();
      expect(second.uses()).to.deep.equal([]);
      await second.install('CentralSystemRootCertificate');
      await settled();
      const third = await begin2('ocpp2.0.1');
      expect(third.uses()).to.have.members(['CSMSRootCertificate', 'V2GRootCertificate']);
      // each answer fits its schema, which has no OEMRootCertificate
      expect((await third.ids()).certificateHashDataChain).to.have.lengthOf(2);
      await third.remove((await third.ids('V2GRootCertificate')).certificateHashDataChain![0]!.certificateHashData);
      await settled();
      const last = await begin2('ocpp2.1');
      expect(last.uses()).to.have.members(['CSMSRootCertificate', 'OEMRootCertificate']);
    });

    it('the certificate of the station, and the key that waits for one, are those of every version', async () => {
      const first = await begin2('ocpp2.1');
      const { csr } = await first.trigger();
      first.part.stop?.();
      await settled();
      const second = await begin16();
      const certificateChain = await signRequest(csr, root);
      const reply = await second.part.handlers.CertificateSigned?.({ certificateChain }, second.after);
      expect(reply).to.deep.equal({ status: 'Accepted' });
      expect(second.uses()).to.deep.equal(['ChargePointCertificate']);
      await settled();
      const third = await begin2('ocpp2.1');
      expect(third.uses()).to.deep.equal(['ChargingStationCertificate']);
      expect(third.given.at(-1)?.own).to.have.keys('cert', 'key');
    });
  });

  it('the firmware that one version has installed is in force under the next one, which has not ordered it', async () => {
    const store = createMemoryStore();
    const first = await accepted({ before: { ...rig(), store: ofVersion(store, 'ocpp1.6') } });
    await first.update();
    await first.deliver(content);
    await first.pass(11);
    expect(first.part.version).to.equal('2.0.0');
    first.part.stop?.();
    const second = await firmwareOn({ store: ofVersion(store, 'ocpp2.0.1') });
    expect([second.part.version, second.part.restarted]).to.deep.equal(['2.0.0', false]);
    await second.update(1);
    await second.deliver('derbench-firmware 3.0.0\n');
    await second.pass(11);
    expect(second.part.version).to.equal('3.0.0');
    second.part.stop?.();
    const third = await accepted({ before: { ...rig(), store: ofVersion(store, 'ocpp1.6') } });
    expect(third.part.version).to.equal('3.0.0');
  });
});
