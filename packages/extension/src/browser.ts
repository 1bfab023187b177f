/** The name and version of this browser. */

import type { BrowserInfo } from './messages.js';

interface Brands {
  getHighEntropyValues(hints: string[]): Promise<{ fullVersionList?: { brand: string; version: string }[] }>;
}

export async function browserInfo(): Promise<BrowserInfo> {
  const { userAgent, userAgentData } = navigator as unknown as { userAgent: string; userAgentData?: Brands };
  const known = (await userAgentData?.getHighEntropyValues(['fullVersionList']))?.fullVersionList ?? [];
  for (const [brand, name] of NAMES) {
    const found = known.find((entry) => entry.brand === brand);
    if (found) return { name, version: found.version, userAgent };
  }
  return { name: 'Chrome', version: /Chrome\/([\d.]+)/.exec(userAgent)?.[1] ?? '', userAgent };
}

/** Chromium is in every list, so it comes last. */
const NAMES: [string, string][] = [
  ['Google Chrome', 'Chrome'],
  ['HeadlessChrome', 'Chrome'],
  ['Microsoft Edge', 'Edge'],
  ['Brave', 'Brave'],
  ['Opera', 'Opera'],
  ['Vivaldi', 'Vivaldi'],
  ['Chromium', 'Chromium'],
];
