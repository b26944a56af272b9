/** Articles that use everything a public page can show: the browser tests read them, and the pictures in docs show them. */
import type { PublishedPage } from "../../server/domain/publishing/service.ts";

export interface SamplePage {
  readonly slug: string;
  readonly title: string;
  readonly content: string;
}

/** Pictures of the samples have addresses below this one. Tests and `npm run docs:pages` answer for it. */
export const pictureHost = "https://pictures.example";

/** A drawing with a fixed size: a tower, its light, and the line of sight that touches the sea. */
export const samplePicture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 520" width="1200" height="520">
<defs><linearGradient id="sky" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#23395b"/><stop offset=".62" stop-color="#8aa4bf"/><stop offset="1" stop-color="#f0c9a0"/></linearGradient>
<linearGradient id="beam" x1="0" y1="0" x2="1" y2="0"><stop offset="0" stop-color="#fff4cf" stop-opacity=".95"/><stop offset="1" stop-color="#fff4cf" stop-opacity="0"/></linearGradient></defs>
<rect width="1200" height="520" fill="url(#sky)"/>
<path d="M0 430 Q600 372 1200 440 V520 H0Z" fill="#1d3a4a"/>
<path d="M236 158 L1200 262 L1200 330 L236 168Z" fill="url(#beam)"/>
<path d="M190 420 L206 182 H246 L262 420Z" fill="#f4efe6"/><path d="M196 340 H256 L259 372 H193Z M202 250 H250 L252 280 H200Z" fill="#b2432f"/>
<rect x="204" y="146" width="44" height="36" fill="#fbe9a9"/><path d="M198 148 L226 116 L254 148Z" fill="#b2432f"/><rect x="198" y="180" width="56" height="6" fill="#3b3b3b"/>
<path d="M60 470 Q150 390 300 424 Q380 440 430 470Z" fill="#2b2f2a"/>
</svg>`;

export const richPage: SamplePage = {
  slug: "how-far-a-light-reaches",
  title: "How far a light reaches",
  content: `---
lang: en
description: Why a lighthouse is as tall as it is, with the formula, a small program and a table of real towers.
---

# How far a light reaches

A lamp on a beach is visible for a few kilometres. The same lamp on a tower can be seen from four times as far, and no stronger bulb would do the same. The limit is not the light. **It is the curve of the sea**, and a keeper beats it with height.[^curve]

<img src="${pictureHost}/tower.svg" width="1200" height="520" alt="A lighthouse on a cliff at dusk; its beam leaves over the curved horizon">

## The line that touches the sea

Draw a straight line from the lamp so that it just touches the water. Beyond that point the sea hides everything at its own level. For a lamp at height $h$ above a sphere of radius $R$, Pythagoras gives the distance $d$ to the horizon:

$$
d = \\sqrt{(R + h)^2 - R^2} = \\sqrt{2Rh + h^2} \\approx \\sqrt{2Rh}
$$

The air helps a little: it bends light downwards, as if the Earth were about one sixth larger. A ship's bridge has a height too, so the two distances add up. The rule of thumb that results is printed in every pilot book:

> Take the square root of both heights in metres, add them, and double the sum. The result is close to the distance in nautical miles.

### From a formula to a program

The program below adds both horizons. \`refraction\` is the share by which air enlarges the radius.

\`\`\`ts
const earthRadius = 6_371_000; // metres
const refraction = 7 / 6;

/** Distance in nautical miles at which a light of this height becomes visible. */
export function range(lightMetres: number, eyeMetres = 5): number {
  const horizon = (height: number) => Math.sqrt(2 * earthRadius * refraction * height);
  return (horizon(lightMetres) + horizon(eyeMetres)) / 1852;
}

console.log(range(53).toFixed(1)); // "19.8"
\`\`\`

### What the towers do

| Lighthouse | Country | Built | Focal height | Geographic range | Lens |
|:--|:--|--:|--:|--:|:--|
| Tower of Hercules | Spain | 110 | 106 m | 26.1 nmi | First order, rotating |
| Cordouan | France | 1611 | 60 m | 20.8 nmi | Where Fresnel tried his first lens in 1823 |
| Eddystone | England | 1882 | 41 m | 18.0 nmi | First order |
| Split Rock | United States | 1910 | 40 m | 17.8 nmi | Third order, bivalve |

## What a keeper can change

Height is bought with stone, so keepers worked on everything else first:

1. The lens. A Fresnel lens sends nearly all light to the horizon.
2. The rhythm. A light that turns looks brighter than one that does not.
3. The colour. White reaches farther than red:
   - red glass takes about three quarters of the light,
   - green glass takes a little more.

A visit at night needs little preparation:

- [x] A clear night without a moon
- [x] A chart, or its digital copy
- [ ] A friend who stays awake with you

<details><summary>Why does a candle seem to flicker less from afar?</summary>

The eye averages what it cannot separate. From far away the flame is a point, and only its total brightness remains.

</details>

---

Press <kbd>L</kbd> on most chart plotters to show the ranges as circles. Where two circles overlap, a careful navigator takes <mark>two bearings</mark> and knows the position.[^fix]

[^curve]: The effect is the reason why the mast of a ship appears before its hull.
[^fix]: A third bearing shows how wrong the first two are. See the [chart symbols](https://charts.example/symbols).
`,
};

export const arabicPage: SamplePage = {
  slug: "rihlat-al-waraq",
  title: "رحلة الورق",
  content: `---
lang: ar
---

# رحلة الورق

وصل الورق إلى بغداد في القرن الثامن الميلادي، فتغيّرت معه حياة الكُتّاب والعلماء. كان الرَّقّ غالي الثمن، وكان البردي يأتي من بعيد، أما الورق فيُصنع من **الخِرَق القديمة** في كل مدينة.[^1]

## سوق الورّاقين

في سوق الورّاقين كان الناس ينسخون الكتب ويبيعونها ويقرؤونها. ويُقال إن في السوق أكثر من مئة دكان:

- نُسّاخ يكتبون بخط واضح سريع،
- ومُجلِّدون يصنعون الأغلفة من الجلد،
- وقُرّاء يستأجرون الدكان ليلًا للقراءة.

> الكتاب هو الجليس الذي لا يُطريك، والصديق الذي لا يَملّك.

## كيف يُصنع

| المرحلة | المدة | الأداة |
|---|--:|---|
| نقع الخِرَق | 3 أيام | حوض كبير |
| الدقّ | يوم واحد | مطرقة يحرّكها الماء |
| التجفيف | يومان | حائط أملس |

والحساب بسيط: إذا كان وزن الورقة $w$ وعددها $n$ فالوزن كله $nw$. ويُعرَض الملف بالأمر \`cat waraq.txt\` كما يلي:

\`\`\`sh
cat waraq.txt | wc -w
\`\`\`

## ما بقي

بقيت من تلك القرون مخطوطات كثيرة، وما زال ورقها أبيض متينًا.

[^1]: الرَّقّ جلد رقيق يُكتب عليه.
`,
};

export const chinesePage: SamplePage = {
  slug: "zhi-de-lu-cheng",
  title: "纸的旅程",
  content: `---
lang: zh-Hans
---

# 纸的旅程

公元二世纪初，蔡伦改进了造纸的方法。树皮、麻头、破布和旧渔网都成了原料，书写从此不再依赖沉重的竹简和昂贵的丝帛。纸的轻便让书信走得更远，也让一个人的书房第一次装得下*整个世界*。[^1]

## 从作坊到书房

造纸的工序并不神秘，却十分讲究耐心：

1. 浸泡原料，使纤维松散；
2. 反复捶打，直到成为均匀的纸浆；
3. 用细帘捞起一层薄薄的纸浆，压去水分；
4. 贴在墙上晾干，再轻轻揭下。

> 纸寿千年，绢寿八百。

## 不同的纸

| 名称 | 产地 | 主要原料 | 适合的用途 |
|---|---|---|---|
| 宣纸 | 安徽泾县 | 青檀皮与稻草 | 书法与绘画 |
| 竹纸 | 福建、四川 | 嫩竹 | 印书与日常书写 |
| 皮纸 | 贵州、云南 | 构树皮 | 经卷、雨伞与灯笼 |

一张纸的厚度约为 $t = 0.1$ 毫米，对折 $n$ 次之后就是 $2^n t$。折到第十次，它已经比手掌还宽。

## 今天的纸

屏幕没有让纸消失。人们仍然愿意把重要的话写在纸上，因为纸会记得笔的轻重，也记得时间的颜色。

[^1]: 考古发现表明，西汉时已有早期的麻纸。
`,
};

/** Pictures without a size: on lines of their own, in a link, between words, in a row, in a table, and one whose width is known. */
export const picturesPage: SamplePage = {
  slug: "pictures",
  title: "Pictures",
  content: `![A tower](${pictureHost}/first.svg)
*The words under it.*

A road ![sign](${pictureHost}/second.svg) between words.

![One](${pictureHost}/third.svg) ![Two](${pictureHost}/fourth.svg)

[![In a link](${pictureHost}/fifth.svg)](https://pictures.example/)

| Cell |
|---|
| ![In a cell](${pictureHost}/sixth.svg) |

<img src="${pictureHost}/seventh.svg" width="120" alt="A width">

The end.
`,
};

/** The record of a page, without its text. */
export const publishedPage: PublishedPage = {
  kind: "published",
  articleId: "art",
  workspaceId: "ws",
  slug: "page",
  mode: "live",
  title: "Benign",
  revision: 1,
  contentHash: "0",
  updatedAtMs: Date.UTC(2026, 10, 22),
  indexable: true,
};
