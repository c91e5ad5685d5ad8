"""Wrong phrases against hand-written pairs."""

import re

import pytest
import spacy

from spacy_lal.batching.sentences import sentence_starts
from spacy_lal.ged.phrases import english_phrases, wrong_phrases

NLP = spacy.blank("en")
PAIRS = """
He drove too [fastly|fast]. I do not agree [about|with] this opinion.
They are [loosing|losing] their way, and it is far [of|from] my house, next [of|to] the park.
I [listened|heard] a loud noise. He [learned|taught] me how to swim.
It made me [disappoint|disappointed].
I am writing [you|to you] about a job, and I saw it [on|in] your advertisement.
They have the [possibility|opportunity] to choose, so they will [be always|always be] glad.
[In our days|Nowadays] it is hard. [Further more|Furthermore], it is late.
Our [travel|trip] was nice.
[I and my brother|My brother and I] left.
[According to my opinion|In my opinion] he does n't know [nothing|anything].
He stays [in|at] home because he swims three times [in|a] week, but goes there [by|on] foot.
It is neither too hot [or|nor] cold. She succeeded [to find|?] it.
They arrived [to|at] the station. In our town there [has|is] a market.
It was higher [from|than] in May. We spend much money [to|on] food.
If I [would have|had] known it, we stay, but if they [would know|?] it, we go.
The soup tastes very [well|good].
I [very|really] like her, and she looks so [beautifully|beautiful].
My brother and I [was|were] there, and we waited [during|for] a long time.
A friend of mine [which|who] lives here felt sorry [to|for] him.
We [passed|spent] two weeks at a farm.
We read it [in|on] your website [at|on] the third day.
They answer your [complains|complaints].
He speaks Greek and Polish [fluent|fluently]. I would be grateful if you [will|would] help.
At the beginning [was|it was] very hard, and we saw that the door [it|] was broken.
In the city [it|there] is a lot of traffic; these are machines which doctors use [them|] in spring.
They have [costumer|customer] care. It was a [suprise|surprise].
He acts really [good|well].
She has [went|gone] home.
They had never [saw|seen] it, and we have n't [wrote|written].
Have you ever [drove|driven] a bus?
He enjoys [to cook|cooking], but would you mind [to wait|waiting]?
I look forward to [meet|meeting] you.
He left without [listen|listening].
They are good at [teach|teaching], and he is responsible [of|for] it.
He is married [with|to] a nurse and afraid [from|of] mice.
It depends [of|on] the price.
She is interested [for|in] art and keen [in|on] opera, keen in mind.
We participate [to|in] races, but do not participate to the best of our strength.
[In|On] the other hand, I leave [in|on] Friday.
We have lived here [since|for] two years.
We met him since two years had passed.
We discussed [about|] it.
Explain [him|to him] the rules, but explain him away.
I listen [music|to music].
She gave [an|] advice about it; it is an information desk.
I [have seen|saw] it two weeks ago. I could have seen it last week.
I [have cooked|cooked] fish yesterday.
If she [will|?] come, we leave.
There is [much|many] people. How much people earn matters.
He is good [in|at] tennis and angry [on|with] us.
That is different [of|from] what we do, superior [than|to] it, according [with|to] him.
[By|On] the other hand and [in|at] the same time, they leave.
[At|In] my opinion they study [in|] abroad, despite [of|] the rain.
He went [to|] home and asked [to|] me.
He [is agree|agrees] with us, and he must [of gone|have gone].
I [am|] agree with you. He [said|told] me that she [has|is] six years old.
There [have|are] many cats. I [am|was] born here.
Everybody [are|is] here, and someone [want|wants] it.
I would like [meet|to meet] them.
[According to me|In my opinion] it is [an other|another] thing, so congratulate her [for|on] it.
They think about [to leave|leaving] without [to pay|paying].
This is [more better|better], the [most best|best].
I [am knowing|know] him, and she [is owning|owns] a shop.
It was [so|such a] nice day with [so|such] good people, and the view is [such|so] beautiful.
It is such [nice|a nice] place.
You like tea, [isn't it|?]?
He doesn't like tea, [doesn't he|?]?
You can swim, [don't you|?]?
They are here, [don't they|?]?
She likes tea, [isn't she|?]?
My brother [he|] likes football.
This is the book which I read [it|] last week.
The film that we saw [it|] was long.
[How|What] does your house look like? I know [how|what] she looks like.
[How|What] is the town like?
[How|What] do you call this?
He made me [to|] laugh and let us [to|] go.
He is one of my [friend|friends].
She has a six [years|year] old son, and it is a ten [minutes|minute] walk.
Although it was late, [but|] we stayed.
Because it was late, [so|] we left.
Yesterday I [go|went] to school.
Last week he [sees|saw] us.
We [visit|visited] the town last week.
If I [would|?] have time, I would come.
I have two [sister|sisters], and every [days|day] is the same.
We need [informations|information]. She [goed|went] home.
He is [tall|taller] than me, as tall [than|as] a tree, and [more nicer|nicer] than her.
She sings very [good|well]. It was [extreme|extremely] cold.
I know a girl [which|who] lives there and a house [who|which] is old.
He is [teacher|a teacher]. It was [very|a very] good film. It is [nice|a nice] place.
[Is|It Is] very cold today. I like it because [is|it is] quiet.
We play [the|] football, have [the|] lunch at two, and go to school by [the|] bus.
They speak [the|] English and live in [the|] Europe. He went to [the|] bed early.
[The|] most of the people left. I took my [brother|brother's] car.
I used to [swimming|?].
I know where [is|?] the old station. I know what [does|?] he still want.
I spend my time [to read|reading], and it is worth [to visit|visiting].
You must [to|] go. He suggested [him|?] to wait.
I have been here [for|since] 2015. He has lived there [from|for] two years.
I have not seen her [since|for] long time.
We met [at|in] the morning, and [in|at] the weekend, and [in|at] 5 o'clock.
It was cold [at|in] summer, and [in|at] midnight.
We arrived [to|at] the station. I saw it [in|on] TV. It is [in|on] the internet.
I waited [him|for him] and looked [him|at him] angrily.
He entered [in|] the room, resembles [to|] his father, and attended [to|] the meeting.
People [is|are] nice.
It was [so|such] a big dog. We saw [so|such] nice flowers.
It was [such|so] useful that we bought it.
My house [is belonging|belongs] to them. The students [are knowing|?] it.
The boys cancelled the match, [isn't it|?]?
It is one of the oldest [house|houses] in town. It was a two-[hours|hour] walk.
She is the [most happiest|happiest] girl. It tastes [badly|?].
We eat fish for [a|] lunch.
[Is|It Is] easy to find it.
This is [oldest|the oldest] house in town.
Bruno, who lives here, [he|] is a pilot.
The house which we painted [it|] is nice.
The man that she helped [him|] yesterday left.
If the boy [will|?] miss the bus, he will be late.
If it [will|?] rain, we stay.
If I [am|were] a king, I would be rich.
They saw that each [houses|house] has a garden.
She is [more steeper|steeper] than that, [more tall|taller] than me.
It is [durable|more durable] than that.
It is the [more|most] useful tool of all. These [lamp|lamps] are old.
How [much|many] lamps are there?
One of the [lamp|lamps] was broken.
It is not [her's|?], but ours.
We [have seen|saw] them in 1998. He [will visit|?] us last week.
Tomorrow he [visited|?] the town.
There is [alot|a lot] of it. [Infact|In fact] he [drinked|drank] milk.
I saw the [the|] dog.
He [do|does] n't know.
They were late because we [was|were] late.
It [depend|depends] on you.
I [thinks|think] it is late.
This is [more easy|easier] than that, the [most big|biggest] of all, and [more cheap|cheaper].
I know that [your|you 're] not here.
Use [you're|your] own car, and they use [they're|their] own house.
They live with [there|their] parents.
It has [it's|its] own garden.
I know that [its|it 's] not late.
He is better [then|than] me.
Do not [loose|lose] the key.
It is [quiet|quite] good. It is [to|too] expensive for me.
We want [too|to] go.
I am used to [work|working] here.
I look forward to [see|seeing] you.
He suggested [to go|going] home.
I wish I [have|had] a car.
The news [are|is] good.
[This|These] children are here.
Every [students|student] has a book.
[Another|Other] people came, and [others|other] people left.
He has a lot of [problem|problems].
They have [many|much] money.
We have [lot|a lot] of work.
There [is|are] many people.
There [are|is] much work.
[Almost|Most] people like it. Most [of|] people like it.
I swim [everyday|every day]. [Nowdays|Nowadays] we swim. [Now a days|Nowadays] he swims.
[May be|Maybe] he will come.
I know [some thing|something] about it, not [any thing|anything] new.
[Every thing|Everything] is late.
I [am|do] not agree with you.
You could come, [isn't it|could n't you]?
You can come, [isn't it|ca n't you]?
You will come, [isn't it|wo n't you]?
Where [you are|are you] going?
I know where [is he|he is].
I do n't know how much [does it cost|it costs]. Tell us what [did he say|he said].
She asked me where [do I live|I live]. They asked him why [did he stop|he stopped].
Can you tell me what time [is it|it is]? Show them how old [is the house|the house is].
I wonder how many people [do they need|they need]. I know what [did he do|he did].
They asked what time [did I cut|I cut] it. Tell me how much [did it cost|it cost].
I know why [does she have|she has] it. We know when [did they have|they had] it.
Pay attention [on|to] it.
I prefer tea [than|to] coffee.
Why [u|you] laugh?
[There fore|Therefore] he bought [an other|another] one for [him self|himself].
We [dis agree|disagree] about our [every day|everyday] life and my [text books|textbooks].
My [grand mother|grandmother] and her [class mates|classmates] went [no where|nowhere].
They teach [them selves|themselves]. We play [foot ball|football] in the [bed room|bedroom].
The [news paper|newspaper] was [un fortunately|unfortunately] in the [air plane|airplane].
You [mis understand|misunderstand] it.
We did our [home work|homework] at the [week end|weekend], [when ever|whenever] we could.
It is [more good|better] than that.
It is [more big|bigger] [then|than] yours.
Nobody could [not|] help.
[Nobody did not|?] help us.
I do not know [nobody|anybody] here.
We didn't have [no|any] money.
There was no [a|] towel, and we waited for [a|] half an hour.
It is [enough big|big enough] for us.
I want [that she|?] come.
I feel [myself|] very tired.
When we [arrive|arrived] at home, we were hungry.
He speaks English very [good|well], but not Greek.
Then my grandfather [he|] laughed.
They laughed [on|at] me.
We returned [to|] home late.
It became [more and more worse|worse and worse].
It is the [most importantest|most important] and the [usefulest|most useful] thing.
It is [more expensiver|more expensive] than that.
I [very|really] like it.
They let people [to|] go, and let's [to|] go.
It makes people [to|] think.
Second, although it was late, [but|] we stayed.
It is [benefit|beneficial] for us.
It was [too much|too] cold, and it is [much|very] difficult to help.
Last year we [have visited|visited] Rome.
It is not so good [than|as] that, not as good [like|as] me, and not the same [like|as] yours.
We often go [to|] shopping with them.
I came [before two years|two years ago].
We could [seat|sit] down.
He can not find [a|] work there.
I [made|took] a lot of photos, [did|made] a mistake, and [made|did] my homework.
He [said|told] me what he wants.
The people here [is|are] nice, but the police [has|have] left.
I [live|have lived] here since 2010.
Two [thousands|thousand] people came.
There are a lot [people|of people].
Many [of|] people came.
If you [will|] come, I will cook.
If I [would have|had] known it, I would have helped.
I would [be|] like to go.
It [is depend|depends] on you.
[Are|Do] you agree?
I am very [interesting|interested] in art.
I was very [exciting|excited] because it was very [interested|interesting].
We went [to|] there.
It is near [of|] the sea, in front [my|of my] house.
[Thanks|Thank] you for your help. He lives [by|on] his own.
I saw [the|] my brother.
[How|What] is it called?
[On other hand|On the other hand], [in|from] my point of view it is late.
[From|In] my opinion, and according [my|to my] father, it is late.
We meet at [weekend|the weekend].
We met [on|] last Saturday, and we leave [in|] next month.
We met at [the|] night, and on 3 May and [in|on] 5 August. It was hot in [the|] July.
Thank you for [invite|inviting] me.
He keeps [to talk|talking].
It allows [to|us to] save money.
My brother [play|plays] football.
My clothes [was|were] wet.
I waited for [long|a long] time, and we had [great|a great] time.
What [nice|a nice] day!
I like [very much|?] the film, and she speaks [very well|?] English.
I know where [can we|we can] meet.
How about [to meet|meeting] there?
I know what [was|] happened, and why he [was|] died.
We [were|] went home, and I [am|] think that it is late.
He wanted to [went|go], but he could not [came|come] and did not [knew|know] it.
They [are|] want help.
Give us some [advise|advice], I [advice|advise] you.
It has a bad [affect|effect] on us, and it can [effect|affect] people.
He was here in the [passed|past] few days, and [than|then] he left.
The town [were|where] we live is nice, and I wonder [weather|whether] it is old.
We ate a [peace|piece] of cake the [hole|whole] day.
I am [hear|here], glad to [here|hear] from you.
I do not [now|know] why, but let me [no|know] it.
Because [off|of] the rain he switched [of|off] the light.
We go [buy|by] train and want to [by|buy] a car.
I [thing|think] that the best [think|thing] is this.
My [live|life] is easy since we [life|live] in town and can [safe|save] money.
I [fell|felt] very tired.
[Their|There] is a house. They [where|were] very late.
We [has|?] not seen it, and they [was|were] not there.
He left two [week|weeks] ago.
[It gives|There are] many people who sing.
Instead of [go|going] to bed, he is tired of [have|having] a dog.
We were on [holidays|holiday], and he is [in|on] vacation, and we came [on|by] bus.
That is the reason [of|for] my letter, and I am happy [of|with] the result.
It is nice [from|of] you. He came [in|on] my way home.
We listen [the|to the] song, and I will reply [you|to you].
We went [the|to the] beach and paid [the|for the] tickets.
I would like to visit [to|] the town, and they invited [to|] me.
She told [to|] me that they live [in|] abroad.
Tell me everything [what|that] you know.
My brother and [me|I] went home.
We enjoyed [very|it very] much.
We have [a|] good weather. I like these [stuffs|stuff].
It is [very|much] better.
It is nice, [specially|especially] in summer.
Could you [borrow|lend] me a book?
I [have|am] 22 years old, and I [have|am] 22 years, too.
It lasts [forty five|forty-five] minutes; I like their [life style|lifestyle].
[Further more|Furthermore], [some body|somebody] knows [every thing|everything] about us.
She wore [make up|make-up]. We sell clothes, [make up|make-up] and [make up|make-up], hairstyles.
They make up stories.
[Your|Yours] sincerely.
I would appreciate [if|it if] you came. We thank [for|you for] your letter.
It is late because [is|it is] very far.
I use [internet|the internet] every day, and we [do|go] shopping there. We slept in [tent|a tent].
We love [the|] nature. We had [a|] dinner with him in [a|] free time and talked all [the|] day.
He is good [in|at] sports, and we look forward [for|to] it. I look forward [hearing|to hearing] it.
I look forward to hearing [you|from you] soon.
[In|] these days people ask the reason [of|for] this.
It was very [exiting|exciting], and I was so [exited|excited] about it on the [worse|worst] day.
He is exiting the room.
I wear [cloths|clothes] of a [cloth|clothes] shop.
We met near a sport centre with all [kind|kinds] of things.
He is twenty [year|years] old. Have you any [complains|complaints]? I wait for your [replay|reply].
I [will|would] like to know it. I want to [complaint|complain], and I [use|used] to live here.
All [this|these] are mine, and [this|these] two rooms are big. This two-day trip is short.
[As a conclusion|In conclusion], we have [many|much] homework.
They ate and I [though|thought] it was the [hole|whole] day, in a [hole|whole] week.
We like [the|] modern technology. She won the first [price|prize] in it.
I was very [disappoint|disappointed] by it, and my [parent's|parents] are here.
They let me [to|] stay, but let the rooms to students.
She works [like|as] an engineer, and he works like a horse.
The number of cars [have|has] increased, but the cars, a number of which have gone, are red.
When I [will be|am] older, I will travel. When I will be home is unclear.
You will [can|be able to] come. He is [elder|older] than us.
I will call you when I [will|] arrive. Tell her when I will arrive.
We are going [to|] home now, and do our best [for|] to win.
Why [you didn't|did n't you] come? Why [she does|does she] not work? Why he didn't come is clear.
She [do|does] nt know. How [I can|can I] help you? Why she isn't here, I know.
Do you know where [is the station|the station is]?
I know how [are his parents|his parents are], and where the bank is.
Would you mind [to open|opening] it? You make up your mind to go.
How [you doing|are you doing]? See how you did.
We should [recycles|recycle] more, and she could [works|work] less.
She has been [worked|working] here for years. It has been worked out, and we have been there.
Why [you are|are you] always late? Why [he can|can he] swim so well? Why you left is clear.
I [no|don't] have time. No, I have no time.
She is a very good [cooker|cook]. It is a good cooker.
He has the same age [than|as] me. We met on the same day that he left.
[i'am|I'm] here to see the [paparazzis|paparazzi]. Dear sir or [madame|madam],
it was [wrote|written] by my aunt.
The film was very [bored|boring], but she was bored.
I wait [you|for you] at home. I am thinking [to buy|?] a car, and he was thinking to himself.
He gave me [a|some] good advice. This is a good information desk.
They [did|made] a big mistake.
I am writing to thank [for|you for] the letter. We wish to thank you for it.
We look forward to hearing [you|from you] again. I [will|would] like to tell you that.
I suggest you [to|?] change it, and I suggest [to add|adding] a visit.
We suggest [to replace|replacing] it. We visited [this|these] two places, on this three days' trip.
I told [every one|everyone] that I left.
[Every one|Everyone] deserves it, and every one of them.
In my [freetime|free time] I meet his [girl friend|girlfriend].
[More over|Moreover] , I never use [such|this] kind of bags.
I am writing in order to [complaint|complain] about it, in a reply [for|to] your letter.
I would like to know [that|] how much it is.
I hope you [would|will] consider it. I wanted to have [a|] dinner in town.
I am rather good [in|at] it. He bought it by [internet|the internet] from here.
If you go [to|] shopping late, it is full.
[Your 's|Yours] sincerely, and I read of [your 's|your] school.
I can play it [due to|because] I had lessons, despite [they|the fact that they] are dear.
The reason [of|for] choosing it is clear. That was the [worse|worst] night.
How [many|much] money do I need? He worked all [the|] day and night.
She is in contact with [the|] nature. Famous [people|people's] life is hard.
It helps in our [day|daily] life. I have two [weeks|weeks'] holiday.
I was really [surprise|surprised] to hear it. It was always [crowed|crowded] .
I bought new [cloths|clothes] and left. His dream will [become|come] true.
I [only can|can only] travel in July, to take part [on|in] the concert.
[First off|First of] all, they left, and I wo n't [never|ever] forget it.
[For|To] my great surprise, it rained, and in response [of|to] this I went.
[By|In] this way , they know. Thank you [about|for] your help.
I would [rather|] prefer to stay. I am writing to inform [that|you that] it rained.
The [travel|trip] was long. I read [you|your] advertisement.
Do not pay [an|] attention to him. It was [a|] great fun for us.
I wonder about [which|what] kind of clothes you wear. Please give [my|me my] money back.
I ask you for [money|my money] back. I saw an advertisement [of|for] the show.
I think [,|] it is good. We enjoyed our trip [in|to] London.
We went on [holidays|holiday] with them. The shop was [close|closed] because it rained.
I have some [question|questions] about it. I need [an|] accommodation for a week.
There is not enough [place|space] for us. It is about [latest|the latest] fashion.
I will [make|let] you know. He was very kind [with|to] us and angry [to|with] me.
[Few|A Few] days later I left. Can you play a [music|musical] instrument?
That is the only way [how|?] we learn. It was [big|great] fun.
He had some [troubles|trouble] with it. It is [a quite|quite a] good film.
Tell me the [true|truth] . It turned [to|out to] be a dog.
You can contact [with|] me. She [felt|fell] in love with him. We take it [in|into] account.
I am looking [to|forward to] hearing from you. There [are|is] some information about it.
She went for [a|] shopping with me. I know the man [which|whose] name is Jim.
Please reply [for|to] me as soon as possible. I read [at|in] the newspaper that it rains.
[In|At] the end of the show they sang. In the end, of the two, one left.
[At|In] our free time, we wait, wait [your|for your] answer.
Your car is better than [my|mine]. This is the first time I [visit|?] Rome. I fell asleep.
I know a girl [who her|whose] mother is a nurse. How long [time|] are you here?
They live in [they|their] own house. I think that [is|it is] better to leave.
He [felt|fell] asleep.
If I were you, I [will|would] go. I have n't [never|ever] been there.
We eat cake [in|on] my birthday. We waited [during|for] two hours. She has long [hairs|hair].
[In|At] this moment I am here. I study [economic|economics]. We went there [with|by] bus.
Both of my [brother|brothers] left. I have no [any|] idea. He [flied|flew] home.
Do you know how much [costs the room|the room costs]?
[On|In] the picture we can see them. My brother, [which|who] lives here, left.
Nowadays [is|it is] difficult to live. She is very [kindly|kind].
He gave me [a|some] useful advice and left.
I think smoking [cause|causes] it. I was ill [in the last time|recently]. He [is|?] died.
We miss [to|] her. It is the [better|best] in our town.
The reason [because|why] I came is this. I recommend it [you|to you]. He was [borned|born] in Rome.
She is a [person very kind|very kind person]. I do n't like [neither|either] tea or coffee.
She won the first [price|prize]. He works [like|as] engineer.
He was angry with [she|her]. We went there with [they|them] and stayed.
The food was nice but [too much|too] expensive, and I feel [me|] very tired.
How [many|much] does it cost? Tell me what time [will you|you will] arrive.
I will [make|have] a big party for my birthday.
He is used to [get|getting] up early. There [are|is] a lot of [informations|information] on it.
She explained [me|to me] how [does it work|it works]. It was the first time I [see|saw] it.
They left when [started|it started] to rain. He was born [in|on] 12 of May.
I [have been|was] in Paris two years ago. It is more important [that|than] money.
When I [will|] arrive home, I will call. He is [engineer|an engineer].
It is hard [for learn|to learn].
I was glad to [received|receive] it.
I hope [you to be|you are] fine. This is the photo [what|that] you asked for.
She asked me [that|] where I was, and he [told|said] that he is ill.
Sorry for [the late|being late].
I want [that you|you to] come, and they want [that they|them to] go.
I know what to do [it|].
This is the answer [of|to] your letter. The book is about [of|] a man.
He went home [by feet|on foot].
[These|This] [informations|information] [are|is] useful. Read [those|that] [advices|advice].
[That|Those] books are mine. My mother [cook|cooks] well. My brother often [go|goes] there.
It was [a such|such an] idea and [a such|such a] loss.
They have [less|fewer] problems. He was [too|so] tired that he fell asleep.
This book [is belong|belongs] to me. They [are belong|belong] to us.
We left [for don't|not to] lose it.
She suggested [me to|that I] go, and they suggested [us to|that we] stay.
"""
RIGHT = """
Today is a good day to start. The report says that travel is expensive.
The king let loose his hounds. The costumer who made the dress won.
He could not smell or taste well. We begin with the best way to do it.
I am sorry to the families. He is a friend of mine, which is why I called him.
I am interested in your website. It's a lot of people. The view was better from my window.
Please comment on your advertisement before Friday. They are in home and auto insurance.
Samples were collected twice on day 3. She looked nervously, because he was late.
He said that the state it was in was poor. Children learn good and bad habits.
His house is bigger than my old one. The man who their parents adored left. How long was the time?
It is a book very interesting people read. The reason, because it rains, is this. Is it you?
Whenever it is the first time, I visit them. They felt tired and fell asleep. He won the price war.
Which name is better? It is the worse of the two, and it is close because both are good.
We are looking to meet your needs. All that she felt in love was joy. Give my money back to them.
He was broke by 1990, and he is more an elder than a priest. It works like a driver.
It is used to get votes. If you will excuse me, I will go. When will you arrive?
There is a lot of information. It was the first time I saw it. Born in 12 countries.
I told them that he was there, as he told that story.
My friend knows what it is about. Is it about of?
I asked that if he came, we go. My brother and my sister live here. Does my mother cook?
Let my mother cook. I have been here since two years ago.
It is more important that he comes. As such, an idea.
It is no less true. It is too late, and that is that. In less than two days it is better that way.
He was hid by the trees.
They opened a new furniture and design store. When I will be back, I can not say.
We use the and and or operators of the language.
No body was found, and every body has a mass. In those days people walked. They live in tent cities.
Your sincerely held beliefs are your own, as are your truly good friends.
We asked about the nature and the cause. I saw the good in it, and it is good in that I learn.
Take a clean cloth and some cloth to make a dress. We are all kind of tired.
The match went to a replay. As a conclusion to the day, they sang. There are many traffic lights.
There was interest in it, and what costs most are interest and fees. They felt surprise at it.
They gave a first price of two pounds for twenty one-day courses. I pay for phone and internet.
She has gone home, and what she had comes from him.
We are kind of have to go.
He avoids tomatoes, and they enjoyed to the full what they had.
The practice to follow is this. It depends in part on you.
People say he wrote in Go, and they go for Go.
He has Went as a name. I look forward to work.
The key is knowing when to stop. It was so nice that we stayed. You think that it is late, isn't it?
The man he is today. My brother helped. The man who saw me left. I know that you love him.
How does it look? What is it like? They are two years old. He is a two year old boy.
One of my friends came.
It was late, but we stayed. Because it was late, we left.
On the evening of the match we met. We do all we can to help.
People who live there are nice. The number of people is high.
We came in a different way. I am a teacher. More power than this is needed.
One of the best was here.
Is it cold? What I think is true. I listened to the football match. He made it to the end.
Do you know where he is? Where is he? He had to go. He has been here since 2015. I used to sing.
She relies on us, and he was here a week ago.
We eat every day. The week ends on Sunday, and some homes work.
How ever often it rains, the self-made man from there came for his self-esteem.
Do more good than harm. Enough good people came. It is good enough to eat.
I want that, and you want that too. She felt herself fall. When we arrive, we eat.
When we arrived, we ate. He speaks good English, and they laughed on the phone.
There is no A or B. Not only nobody could see it. We waited for half an hour.
I do not know no. They let people talk, and they made plans to go. It is of benefit to us.
It is too much hard work. I like it very much. We have a work permit. Go to swimming lessons.
Before two years had passed, they left. Take a seat. They had many friends there.
We did a lot, and he makes homework easier. What he said we know.
If I had known it, I would have come. If you will excuse me.
Two thousand people came, and thousands of people left. A lot happened.
Some of the people left. What would it be like to fly? He is here, and it depends on him.
Are you here? It is interesting in many ways. It was exciting. She is interested in it.
He got to there by noon. He lives near here. In front of my house is a tree.
The work is by his own hand. What is it called?
On the other hand, from my point of view it is late. We met last Saturday.
We leave next month. At night it is cold. Thank you for your help, and he kept to the left.
It allows us to go. My brothers play football. The police have left. It was a long time ago.
I like the film very much. I know where we can meet. What happened? He died. He was seen.
We know how much it costs. I had to come, and he could come. I left, and I felt ill.
The past few days were cold.
Than that, nothing is better. Where were you? The weather is fine.
There is a hole in the day bed. Peace of mind is good. Here and there. We now know it.
The turn of the century. Buy trains. Live music is good. Keep it safe. He fell down.
Their house is here. You know where they are. He is a six year old. Two week old dogs.
It gives many people hope. He is used to work that is hard.
Thanks to the holidays, it is good. The reason for my letter is this. Listen to the song.
Reply to me. We go the whole way. He paid the waiter, and a visit to the town.
Despite the rain it is nice. I know what you know. She saw my brother and me.
We enjoyed it very much. I will take them. It is nice weather, and it is much better.
It is for he who waits, and it was too much good food. I felt me and you were right.
They will make a party to the contract happy. With they as a word it is odd.
It was made specially for me. I have 22 years left. He has two years to go.
"""


def phrases_of(doc):
    return list(wrong_phrases([token.text for token in doc], sentence_starts(doc, "split")))


@pytest.mark.parametrize("text", PAIRS.strip().split("\n"))
def test_wrong_phrases(text):
    wrong = re.sub(r"\[(.*?)\|.*?\]", r"\1", text)
    doc = NLP(wrong)
    pairs = re.findall(r"\[(.*?)\|(.*?)\]", text)
    found = sorted(phrases_of(doc))
    # where words are missing, those before the phrase
    made = [
        (
            doc[p.start : p.end].text,
            f"{p.right} {doc[p.start]}" if p.type[0] == "M" and p.right else p.right,
        )
        for p in found
    ]
    assert made == [(old, None if new == "?" else new) for old, new in pairs]


@pytest.mark.parametrize("text", RIGHT.strip().split("\n"))
def test_right_sentences(text):
    assert phrases_of(NLP(text)) == []


def test_sentences_are_apart():
    assert list(wrong_phrases(["I", "have", "went", "on"], [0, 2])) == []


def test_every_pattern_has_a_pair():
    text = re.sub(r"\[(.*?)\|.*?\]", r"\1", PAIRS)
    words = "\n".join(
        "".join(f"{token.lower_} " for token in NLP(line)) for line in text.strip().split("\n")
    )
    patterns = [pattern.regex for pattern in english_phrases().patterns]
    assert [pattern.pattern for pattern in patterns if not pattern.search(words)] == []
