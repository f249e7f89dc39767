import { once } from 'node:events';
import { Agent, createServer as createHttpsServer, request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { TlsOptions } from 'node:tls';
import { expect } from 'chai';
import { WebSocket, WebSocketServer } from 'ws';
import { SimError } from '../../../src/core/errors.ts';
import { openSocket } from '../../../src/core/net/connect.ts';
import { listen } from '../../../src/core/net/listen.ts';
import { clientTlsOptions, createClientContext, negotiatedBy } from '../../../src/core/tls/client-context.ts';
import type { ClientIdentity, ClientPolicy } from '../../../src/core/tls/client-context.ts';
import { HeadEnd, headEndPki } from '../../support/head-end.ts';
import type { HeadEndPki } from '../../support/head-end.ts';
import type { Identity } from '../../support/pki.ts';

const ccm8 = 'ECDHE-ECDSA-AES128-CCM8';
const gcm = 'ECDHE-ECDSA-AES128-GCM-SHA256';
const only12 = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const;
const withCcm8: TlsOptions = { ...only12, ciphers: `${ccm8}:@SECLEVEL=0` };
const withGcm: TlsOptions = { ...only12, ciphers: gcm };

describe('TLS policies of clients against a head-end', () => {
  let pki: HeadEndPki;
  const heads: HeadEnd[] = [];

  before(async () => {
    pki = await headEndPki();
  });
  afterEach(() => Promise.all(heads.splice(0).map((head) => head.close())));

  async function headEnd(options: TlsOptions, identity: Identity = pki.server): Promise<HeadEnd> {
    const head = await HeadEnd.open(identity, options);
    heads.push(head);
    return head;
  }

  interface Ask {
    readonly policy?: ClientPolicy;
    readonly checkHostname?: boolean;
    readonly pem?: ClientIdentity<string>;
  }

  async function connect({ port }: HeadEnd, { policy = 'csip', checkHostname = true, pem }: Ask = {}) {
    const context = createClientContext(pem ?? { ...pki.device, rootCert: pki.root.cert }, policy, 'tls');
    const target = { host: '127.0.0.1', port, timeoutMs: 5000, tls: { context, checkHostname } };
    return openSocket(target, new AbortController().signal);
  }

  /** The suite that both ends use. */
  async function agreed(head: HeadEnd, asked: Ask = {}) {
    const socket = await connect(head, asked);
    const { version, suite } = negotiatedBy(socket) ?? {};
    socket.destroy();
    return [version, suite];
  }

  /** Why there is no connection, in words. */
  async function refusal(head: HeadEnd, asked: Ask = {}): Promise<string> {
    try {
      (await connect(head, asked)).destroy();
    } catch (error) {
      expect(error).to.be.instanceOf(SimError).and.to.have.property('code', 'PEER_ERROR');
      return (error as SimError).message.replace(`cannot connect to tls://127.0.0.1:${head.port}: `, '');
    }
    throw new Error('expected a refusal');
  }

  describe('csip', () => {
    it('uses CCM8 where the head-end has it, also if that prefers it among others', async () => {
      expect(await agreed(await headEnd(withCcm8))).to.deep.equal(['TLSv1.2', ccm8]);
      const both = await headEnd({ ciphers: `${ccm8}:${gcm}:TLS_AES_128_GCM_SHA256:@SECLEVEL=0` });
      expect(await agreed(both)).to.deep.equal(['TLSv1.2', ccm8]);
    });

    it('falls back to GCM, which csip_strict does not', async () => {
      const head = await headEnd(withGcm);
      expect(await agreed(head)).to.deep.equal(['TLSv1.2', gcm]);
      expect(await refusal(head, { policy: 'csip_strict' })).to.equal(
        'it refuses every cipher suite and TLS version that is offered, or the certificate of this end',
      );
      expect(await agreed(await headEnd(withCcm8), { policy: 'csip_strict' })).to.deep.equal(['TLSv1.2', ccm8]);
    });

    it('is refused by a head-end with TLS 1.3 alone', async () => {
      expect(await refusal(await headEnd({ minVersion: 'TLSv1.3' }))).to.equal(
        'it accepts none of the TLS versions that are offered',
      );
    });

    it('presents its chain: a head-end that knows the root alone lets it in', async () => {
      const mutual = { ...withCcm8, requestCert: true, rejectUnauthorized: true, ca: pki.root.cert };
      const head = await headEnd(mutual);
      const socket = await connect(head);
      expect((await head.session()).authorized).to.equal(true);
      socket.destroy();
    });

    it('is not let in without a certificate, or with that of another authority', async () => {
      const mutual = { ...withCcm8, requestCert: true, rejectUnauthorized: true, ca: pki.root.cert };
      for (const pem of [
        { rootCert: pki.root.cert },
        { rootCert: pki.root.cert, ...pki.foreignDevice },
      ] as ClientIdentity<string>[]) {
        const head = await headEnd(mutual);
        const refused = connect(head, { pem }).then(
          // in some runs the refusal comes behind the handshake
          (socket) => once(socket, 'close'),
          (error: unknown) => error,
        );
        await refused;
        expect(head.sessions).to.deep.equal([]);
      }
    });
  });

  describe('the certificate of the head-end', () => {
    const expectRefused = async (identity: Identity, words: string | RegExp, asked: Ask = {}) => {
      expect(await refusal(await headEnd(withGcm, identity), asked)).to.match(
        typeof words === 'string' ? new RegExp(`^${words}$`) : words,
      );
    };
    const foreign =
      'its certificate descends from an authority that was not given, or it leaves an intermediate certificate out: CN=[\\w -]+';

    it('must descend from the root', () => expectRefused(pki.foreign, foreign));
    it('must come with its intermediate', () => expectRefused(pki.bare, foreign));
    it('must not be self-signed', () =>
      expectRefused(pki.selfSigned, 'its certificate is self-signed and not the one given'));
    it('must not have expired', () => expectRefused(pki.expired, 'its certificate has expired'));
    it('must be of the host', () => expectRefused(pki.elsewhere, 'its certificate is not of this host'));

    it('may be of another host where that is not checked, and nothing else may be wrong with it', async () => {
      const asked = { checkHostname: false };
      expect(await agreed(await headEnd(withGcm, pki.elsewhere), asked)).to.deep.equal(['TLSv1.2', gcm]);
      await expectRefused(pki.foreign, foreign, asked);
      await expectRefused(pki.expired, 'its certificate has expired', asked);
      await expectRefused(pki.selfSigned, /self-signed/, asked);
    });

    it('is checked also where the environment says otherwise', async () => {
      const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
      try {
        await expectRefused(pki.foreign, foreign);
      } finally {
        if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
        else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
      }
    });
  });

  describe('ocpp', () => {
    const asked: Ask = { policy: 'ocpp' };

    it('uses TLS 1.3 where it can, and the suites of the security profiles with TLS 1.2', async () => {
      expect(await agreed(await headEnd({}), asked)).to.deep.equal(['TLSv1.3', 'TLS_AES_256_GCM_SHA384']);
      for (const suite of [gcm, 'ECDHE-ECDSA-AES256-GCM-SHA384'])
        expect(await agreed(await headEnd({ ...only12, ciphers: suite }), asked)).to.deep.equal(['TLSv1.2', suite]);
      expect(await refusal(await headEnd(withCcm8), asked)).to.contain('cipher suite');
    });

    it('needs no certificate of its own (profile 2)', async () => {
      const pem = { rootCert: pki.root.cert };
      expect(await agreed(await headEnd({}), { ...asked, pem })).to.deep.equal(['TLSv1.3', 'TLS_AES_256_GCM_SHA384']);
      expect(await refusal(await headEnd({}, pki.foreign), { ...asked, pem })).to.contain('its certificate');
    });
  });

  it('sunspec has the default suites and CCM8', async () => {
    const asked: Ask = { policy: 'sunspec' };
    expect(await agreed(await headEnd(withCcm8), asked)).to.deep.equal(['TLSv1.2', ccm8]);
    expect((await agreed(await headEnd({}), asked))[0]).to.equal('TLSv1.3');
  });

  describe('options of a connection', () => {
    const options = (checkHostname = true) =>
      clientTlsOptions({
        context: createClientContext({ ...pki.device, rootCert: pki.root.cert }, 'csip', 'tls'),
        checkHostname,
      });

    it('serve https and its agents', async () => {
      const server = createHttpsServer({ ...withCcm8, ...pki.server }, (_, response) => response.end('ok'));
      const { port } = await listen(server, '127.0.0.1', 0);
      const agent = new Agent(options());
      const asked = request({ host: '127.0.0.1', port, agent }).end();
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      expect(negotiatedBy(response.socket)).to.deep.equal({ version: 'TLSv1.2', suite: ccm8 });
      response.resume();
      await once(response, 'end');
      agent.destroy();
      await new Promise((resolve) => server.close(resolve));
    });

    it('serve ws', async () => {
      const server = createHttpsServer({ ...withCcm8, ...pki.elsewhere });
      const sockets = new WebSocketServer({ server });
      const { port } = await listen(server, '127.0.0.1', 0);
      const refused = new WebSocket(`wss://127.0.0.1:${port}`, options());
      const [error] = (await once(refused, 'error')) as [Error];
      expect(error).to.have.property('code', 'ERR_TLS_CERT_ALTNAME_INVALID');
      const socket = new WebSocket(`wss://127.0.0.1:${port}`, options(false));
      await once(socket, 'open');
      socket.terminate();
      sockets.close();
      await new Promise((resolve) => server.close(resolve));
    });
  });
});
