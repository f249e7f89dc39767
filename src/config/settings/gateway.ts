/** The settings of a gateway, which has no devices and no protocols of its own. */
import type { SettingKey } from './settings.ts';

export const settingsOfGateway: ReadonlySet<SettingKey> = new Set<SettingKey>([
  'fleet',
  'fleet_prefix',
  'fleet_wait_s',
  'fleet_pace',
  'fleet_plain',
  'fleet_creds',
  'fleet_nkey',
  'fleet_user',
  'fleet_password_file',
  'fleet_ca',
  'fleet_cert',
  'fleet_key',
  'website_ip',
  'website_port',
  'cors_origin',
  'allowed_host',
  'ws_max_clients',
  'http_max_connections',
  'log_level',
  'log_format',
]);
