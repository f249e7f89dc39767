/** Which resources of a walk can be subscribed to, and where. */
import type { EndDeviceFacts, FoundResource } from '../walk/model.ts';
import type { SubscribableResource } from './subscriptions.ts';

/** An EndDevice that was found, with the resources that belong to it. */
export interface FoundEndDevice {
  readonly facts: Pick<EndDeviceFacts, 'document' | 'base'>;
  /** null: it stands for no single device */
  readonly deviceIndex: number | null;
  readonly resources: readonly FoundResource[];
}

/** Each at the SubscriptionList of its EndDevice; one that several have, such as the EndDeviceList, at the first. */
export function subscribableResources(endDevices: readonly FoundEndDevice[]): readonly SubscribableResource[] {
  const found = new Map<string, SubscribableResource>();
  for (const { facts, deviceIndex, resources } of endDevices) {
    const { href } = facts.document.SubscriptionListLink ?? {};
    if (href === undefined || !URL.canParse(href, facts.base)) continue;
    const listUrl = new URL(href, facts.base).href;
    for (const { url, name, subscribable } of resources)
      if (subscribable && !found.has(url)) found.set(url, { url, name, listUrl, deviceIndex });
  }
  return [...found.values()];
}
