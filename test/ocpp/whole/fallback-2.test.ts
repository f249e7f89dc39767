/** Credentials that a central system of 2.x sets and then refuses: the former ones return, also in a later process. */
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { headEndPki } from '../../support/head-end.ts';
import type { HeadEndPki } from '../../support/head-end.ts';
import { issue } from '../../support/pki.ts';
import { signRequest } from '../v16/security/signing.ts';
import { id, Site } from './site.ts';

const [ofFlag, first, second] = ['flag', 'first', 'second'].map((text) => text.padEnd(16, '0')) as [
  string,
  string,
  string,
];

for (const version of ['ocpp2.0.1', 'ocpp2.1'] as const)
  describe(`credentials that a central system of ${version} sets and refuses (A01, A02)`, () => {
    const versionFlags = ['--ocpp_version', version === 'ocpp2.1' ? version : 'ocpp2.0.1j'];
    const subprotocols = [version];
    let directory: string;
    let pki: HeadEndPki;
    let site: Site;
    /** what the central system lets in: passwords, or serial numbers of certificates */
    let admitted: ReadonlySet<string>;
    /** what the station has shown, connection by connection */
    let shown: string[];

    const file = (name: string, text: string) => {
      writeFileSync(join(directory, name), text, { mode: 0o600 });
      return join(directory, name);
    };
    const admit = (what: string | undefined) => {
      shown.push(what ?? '');
      return what !== undefined && admitted.has(what) ? null : 401;
    };
    const change = async (variable: string, attributeValue: string) => {
      const data = { component: { name: 'SecurityCtrlr' }, variable: { name: variable }, attributeValue };
      const { setVariableResult } = await site.call('SetVariables', { setVariableData: [data] });
      expect(setVariableResult[0].attributeStatus).to.equal('Accepted');
    };
    const cameBack = () => site.until('it is accepted', () => site.peers === 1, 200);
    const restart = async () => {
      await site.stop();
      shown = [];
      await site.start();
      await cameBack();
    };

    before(async () => {
      directory = mkdtempSync(join(tmpdir(), 'derbench-ocpp-fallback-'));
      pki = await headEndPki();
    });
    after(() => {
      rmSync(directory, { recursive: true, force: true });
    });
    beforeEach(() => {
      shown = [];
    });
    afterEach(() => site.close());

    describe('BasicAuthPassword', () => {
      const set = async (text: string) => {
        await change('BasicAuthPassword', text);
        await site.advance(1);
        await cameBack();
      };
      beforeEach(async () => {
        admitted = new Set([ofFlag]);
        site = await Site.open({
          flags: [...versionFlags, '--ocpp_security_profile', '1', '--ocpp_password_file', file('password', ofFlag)],
          central: { subprotocols, admit: (_, password) => admit(password?.toString()) },
        });
        await cameBack();
      });

      it('a refused key is forgotten: a later process begins with the password of the settings', async () => {
        await set(first);
        expect(shown).to.deep.equal([ofFlag, first, ofFlag]);
        await restart();
        expect(shown).to.deep.equal([ofFlag]);
      });

      it('a later process begins with the key before the refused one', async () => {
        admitted = new Set([first]);
        await set(first);
        await set(second);
        expect(shown).to.deep.equal([ofFlag, first, second, first]);
        await restart();
        expect(shown).to.deep.equal([first]);
        // and it can be set again
        admitted = new Set([second]);
        await set(second);
        expect(shown).to.deep.equal([first, second]);
      });

      it('a later process keeps the key while the central system is away, and forgets it when the settings work', async () => {
        admitted = new Set([first]);
        await set(first);
        await site.stop();
        shown = [];
        site.central.admit = (_, password) => {
          shown.push(password?.toString() ?? '');
          return 503;
        };
        await site.start();
        await site.advance(60);
        expect(shown.length).to.be.greaterThan(3);
        expect([...new Set(shown)]).to.deep.equal([first]);
        site.central.admit = (_, password) => admit(password?.toString());
        admitted = new Set([ofFlag]);
        await cameBack();
        expect(shown.slice(-2)).to.deep.equal([first, ofFlag]);
        await restart();
        expect(shown).to.deep.equal([ofFlag]);
      });
    });

    describe('the own certificate', () => {
      const serialOf = ({ socket }: IncomingMessage) =>
        socket instanceof TLSSocket ? socket.getPeerCertificate().serialNumber : undefined;
      const inUse = async (): Promise<string> => {
        const { certificates } = await site.get(`ocpp/${id}/certificates`);
        const own = (certificates as { use: string; serial_number: string }[]).filter(
          ({ use }) => use === 'ChargingStationCertificate',
        );
        expect(own).to.have.lengthOf(1);
        return own[0]?.serial_number ?? '';
      };
      /** A new certificate of the station, whose key takes as long as it takes. @returns its serial number */
      const sign = async (isAdmitted: boolean): Promise<string> => {
        await site.call('TriggerMessage', { requestedMessage: 'SignChargingStationCertificate' });
        const { csr, requestId } = (await site.station.next('SignCertificate')).payload as {
          csr: string;
          requestId?: number;
        };
        const certificateChain = await signRequest(csr, pki.root, [-1000, 1000]);
        const { serialNumber } = new X509Certificate(certificateChain);
        if (isAdmitted) admitted = new Set([serialNumber]);
        expect(
          (
            await site.call('CertificateSigned', {
              certificateChain,
              certificateType: 'ChargingStationCertificate',
              ...(requestId !== undefined && { requestId }),
            })
          ).status,
        ).to.equal('Accepted');
        await site.advance(1);
        await cameBack();
        return serialNumber;
      };

      it('a refused one is forgotten; a later process begins with the one before', async () => {
        const own = await issue(pki.intermediate, 'station', { purpose: 'client' });
        const ofFlags = new X509Certificate(own.cert).serialNumber;
        admitted = new Set([ofFlags]);
        const { cert, key } = pki.server;
        site = await Site.open({
          flags: [
            ...versionFlags,
            ...['--ocpp_security_profile', '3', '--ocpp_root_cert', file('root.pem', pki.root.cert)],
            ...[
              '--ocpp_cert',
              file('own.pem', own.cert + pki.intermediate.cert),
              '--ocpp_key',
              file('own.key', own.key),
            ],
          ],
          central: {
            subprotocols,
            tls: { cert, key, clientCa: pki.root.cert },
            admit: (_, __, request) => admit(serialOf(request)),
          },
        });
        await cameBack();
        await change('OrganizationName', 'Operator');
        const refused = await sign(false);
        expect(shown).to.deep.equal([ofFlags, refused, ofFlags]);
        await restart();
        expect([shown, await inUse()]).to.deep.equal([[ofFlags], ofFlags]);
        const proven = await sign(true);
        const another = await sign(false);
        expect(shown).to.deep.equal([ofFlags, proven, another, proven]);
        expect(await inUse()).to.equal(proven);
        await restart();
        expect([shown, await inUse()]).to.deep.equal([[proven], proven]);
      });
    });
  });
