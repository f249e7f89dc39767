/** Settings of the OCPP charge points. */
import { atStart, fileAtStart, restartOf } from './changes.ts';
import { optionalSetting, setting } from './setting.ts';
import { integer, ocppId, ocppPassword, ocppUrl, ocppVersionList, onOff, path, pemSource } from './value-kinds.ts';

const ocpp = restartOf('ocpp');

export const ocppSettings = {
  ocpp_enable: setting({
    flags: ['--ocpp_enable'],
    kind: onOff,
    default: false,
    changes: ocpp,
    doc: 'Connects the charging stations (EVSE) to a central system of OCPP as charge points.',
  }),
  ocpp_version: setting({
    flags: ['--ocpp_version'],
    kind: ocppVersionList,
    default: ['ocpp1.6j'],
    needs: 'ocpp_enable',
    changes: ocpp,
    doc: 'Version of OCPP. Several are offered in their order, and the central system chooses one with each connection.',
  }),
  ocpp_csms_url: optionalSetting({
    flags: ['--ocpp_csms_url'],
    kind: ocppUrl,
    needs: 'ocpp_enable',
    changes: ocpp,
    doc: 'Endpoint of the central system, to which / and the identity of the charge point are added. Security profiles 0 and 1 need ws://, 2 and 3 wss://. Required with ocpp_enable.',
  }),
  ocpp_csid: setting({
    flags: ['--ocpp_csid'],
    kind: ocppId,
    default: 'SIM-CP-1',
    changes: atStart('The state of each station, also on disk, is under its identity.'),
    doc:
      'Identity of the first charge point, in OCPP and in the paths of evse; every further one is this ' +
      'followed by - and the index of its device.',
  }),
  ocpp_security_profile: setting({
    flags: ['--ocpp_security_profile'],
    kind: { ...integer(0, 3), placeholder: 'PROFILE' },
    default: 0,
    needs: 'ocpp_enable',
    changes: ocpp,
    doc: 'Security profile: 0 none; 1 basic authentication without TLS; 2 basic authentication over TLS; 3 TLS with client certificate.',
  }),
  ocpp_password_file: optionalSetting({
    flags: ['--ocpp_password_file'],
    kind: path,
    needs: 'ocpp_enable',
    changes: fileAtStart,
    doc:
      'File with the password of security profiles 1 and 2: 16 to 64 octets of text, or 32 to 40 ' +
      'hexadecimal digits, which 1.6 decodes; a line break at the end is not part of it. Profile 0 keeps ' +
      'it for a profile that is raised later.',
  }),
  ocpp_password: optionalSetting({
    flags: ['--ocpp_password'],
    kind: ocppPassword,
    secret: true,
    needs: 'ocpp_enable',
    changes: ocpp,
    doc:
      'The password itself, instead of ocpp_password_file. On the command line other users of the machine ' +
      'can see it: prefer the file or the environment.',
  }),
  ocpp_cert: optionalSetting({
    flags: ['--ocpp_cert'],
    kind: pemSource,
    needs: 'ocpp_enable',
    changes: ocpp,
    doc: 'Certificate of the charge point for security profile 3, PEM, followed by its intermediate CAs.',
  }),
  ocpp_key: optionalSetting({
    flags: ['--ocpp_key'],
    kind: pemSource,
    needs: 'ocpp_enable',
    changes: ocpp,
    doc: 'Private key for ocpp_cert, PEM without passphrase.',
  }),
  ocpp_root_cert: optionalSetting({
    flags: ['--ocpp_root_cert'],
    kind: pemSource,
    needs: 'ocpp_enable',
    changes: ocpp,
    doc: 'CA certificates that the certificate of the central system is checked against, PEM; for security profiles 2 and 3.',
  }),
  ocpp_auto_authorize: setting({
    flags: ['--ocpp_auto_authorize'],
    kind: onOff,
    default: true,
    needs: 'ocpp_enable',
    changes: ocpp,
    doc: 'Presents the token AUTO to the central system when a vehicle is plugged in.',
  }),
};
