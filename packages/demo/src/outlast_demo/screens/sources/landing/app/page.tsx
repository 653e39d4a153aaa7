import { FeatureGrid } from "@/components/feature-grid";
import { Hero } from "@/components/hero";
import { SiteFooter } from "@/components/site-footer";
import { SiteHeader } from "@/components/site-header";

export default function Page() {
  return (
    <main className="relative min-h-dvh overflow-x-clip bg-background">
      <SiteHeader />
      <Hero />
      <FeatureGrid />
      <SiteFooter />
    </main>
  );
}
