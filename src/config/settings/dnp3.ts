/** Settings of the DNP3 outstations. */
import { dnp3Profiles } from '../../contract/dnp3-settings.ts';
import { fileAtStart, hostAtStart, restartOf } from './changes.ts';
import { optionalSetting, setting } from './setting.ts';
import { choice, dnp3Masters, dnp3Peers, dnp3Station, host, onOff, path, pemSource, port } from './value-kinds.ts';

const dnp3 = restartOf('dnp3');

export const dnp3Settings = {
  dnp3_enable: setting({
    flags: ['-d3', '--dnp3_enable'],
    kind: onOff,
    default: false,
    changes: dnp3,
    doc: 'Serves each device as an outstation of DNP3 (IEEE 1815) with the DER profile.',
  }),
  dnp3_port: setting({
    flags: ['-d3p', '--dnp3_port'],
    kind: port,
    default: 20000,
    needs: 'dnp3_enable',
    changes: dnp3,
    doc: 'TCP port of the outstation of device 0; the ports of further devices follow by index. 0 = any free ports.',
  }),
  dnp3_host: setting({
    flags: ['--dnp3_host'],
    kind: host,
    default: '127.0.0.1',
    needs: 'dnp3_enable',
    changes: hostAtStart,
    doc: 'Address on which the outstations listen.',
  }),
  dnp3_outstation_addr: setting({
    flags: ['-d3o', '--dnp3_outstation_addr'],
    kind: dnp3Station,
    default: 1,
    needs: 'dnp3_enable',
    changes: dnp3,
    doc: 'Link address of the outstations; with dnp3_shared_port that of device 0, and the addresses of further devices follow by index.',
  }),
  dnp3_remote_addr: setting({
    flags: ['-d3m', '--dnp3_remote_addr'],
    kind: dnp3Masters,
    default: [4],
    needs: 'dnp3_enable',
    changes: dnp3,
    doc: 'Link addresses of the masters that are served; each has its own events, selects and clock.',
  }),
  dnp3_profile: setting({
    flags: ['--dnp3_profile'],
    kind: choice(dnp3Profiles, 'PROFILE'),
    default: 'an2018',
    needs: 'dnp3_enable',
    changes: dnp3,
    doc: 'Point map: that of AN2018-001, or the same with the changes of IEEE 1815.2.',
  }),
  dnp3_points: optionalSetting({
    flags: ['--dnp3_points'],
    kind: path,
    needs: 'dnp3_enable',
    mustExist: true,
    changes: fileAtStart,
    doc: 'JSON file with a point map that replaces the built-in one.',
  }),
  dnp3_unsolicited: setting({
    flags: ['--dnp3_unsolicited'],
    kind: onOff,
    default: false,
    needs: 'dnp3_enable',
    changes: dnp3,
    doc: 'Lets outstations send unsolicited responses; masters enable the classes.',
  }),
  dnp3_shared_port: setting({
    flags: ['--dnp3_shared_port'],
    kind: onOff,
    default: false,
    needs: 'dnp3_enable',
    changes: dnp3,
    doc: 'Serves all outstations on dnp3_port, each at its own link address.',
  }),
  dnp3_enc: setting({
    flags: ['--dnp3_enc'],
    kind: onOff,
    default: false,
    needs: 'dnp3_enable',
    changes: dnp3,
    doc: 'Serves DNP3 over TLS only (IEC 62351-3); masters need a certificate.',
  }),
  dnp3_cert: optionalSetting({
    flags: ['--dnp3_cert'],
    kind: pemSource,
    needs: 'dnp3_enc',
    changes: dnp3,
    doc:
      'Certificate of the outstations, PEM, optionally followed by intermediate CAs. This file, dnp3_key ' +
      'and dnp3_root_cert are reloaded when they change.',
  }),
  dnp3_key: optionalSetting({
    flags: ['--dnp3_key'],
    kind: pemSource,
    needs: 'dnp3_enc',
    changes: dnp3,
    doc: 'Private key for dnp3_cert, PEM without passphrase.',
  }),
  dnp3_root_cert: optionalSetting({
    flags: ['--dnp3_root_cert'],
    kind: pemSource,
    needs: 'dnp3_enc',
    changes: dnp3,
    doc: 'CA certificates that the certificates of masters are checked against, PEM.',
  }),
  dnp3_allowed_peers: optionalSetting({
    flags: ['--dnp3_allowed_peers'],
    kind: dnp3Peers,
    needs: 'dnp3_enc',
    changes: dnp3,
    doc:
      'Certificates that masters may present, separated by semicolons: common name, subject, or sha256: and ' +
      'the fingerprint, optionally followed by @ and the only link address of its master. If not given: ' +
      'every certificate of the CA.',
  }),
};
