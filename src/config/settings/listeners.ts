/** The listeners of a process, as their settings describe them. */
import type { SettingKey } from './settings.ts';

type PortKey = SettingKey &
  ('website_port' | 'mb_port' | 'meter_port' | 'proxy_port' | 'csip_website_port' | 'csip_notify_port' | 'dnp3_port');
type HostKey = SettingKey &
  ('website_ip' | 'mb_host' | 'proxy_host' | 'csip_website_ip' | 'csip_notify_host' | 'dnp3_host');

/** The settings of one listener. Port 0 conflicts with no other: any free port, or no listener. */
export interface Listener {
  readonly port: PortKey;
  readonly host: HostKey;
  /** settings without which nothing listens: each has a value other than no */
  readonly needs: readonly SettingKey[];
  /** the devices have a port each, by index, from `port` on; absent: one port */
  readonly row?: {
    /** owner of a port, for issues */
    readonly owner: string;
    /** switch that serves all of them on one port */
    readonly shared: 'mb_shared_port' | 'dnp3_shared_port';
  };
  /** the setting that names the port to peers, so that no free port can replace it */
  readonly publishedBy?: SettingKey;
}

/** Every listener of a process. */
export const listeners: readonly Listener[] = [
  { port: 'website_port', host: 'website_ip', needs: [] },
  { port: 'mb_port', host: 'mb_host', needs: ['mb_enable'], row: { owner: 'device', shared: 'mb_shared_port' } },
  { port: 'meter_port', host: 'mb_host', needs: ['mb_enable', 'meter_port'] },
  { port: 'proxy_port', host: 'proxy_host', needs: ['proxy'] },
  { port: 'csip_website_port', host: 'csip_website_ip', needs: ['csip_client_enable'] },
  {
    port: 'csip_notify_port',
    host: 'csip_notify_host',
    needs: ['csip_client_enable', 'csip_subscribe'],
    publishedBy: 'csip_notify_uri',
  },
  {
    port: 'dnp3_port',
    host: 'dnp3_host',
    needs: ['dnp3_enable'],
    row: { owner: 'outstation', shared: 'dnp3_shared_port' },
  },
];

const isOn = (value: unknown): boolean => value !== undefined && value !== null && value !== false;

/** True if the settings open the listener. @param valueOf value of a setting in force */
export function isOpened({ needs }: Listener, valueOf: (key: SettingKey) => unknown): boolean {
  return needs.every((key) => isOn(valueOf(key)));
}
